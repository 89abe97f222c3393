"""Starts a session's leader in a capsule, which sees nothing of ours."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from holdfast.core.capsule.mount_table import outermost
from holdfast.core.capsule.runtime_choice import Choice, choose
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.linux import exec_filter, shells, spawn
from holdfast.linux.capsule.start import Capsule, hold_leader
from holdfast.linux.capsule.view import STATE_PIPE, View, can_change
from holdfast.linux.stored import folders
from holdfast.model.actors import Actor
from holdfast.model.errors import NoCapsule, SecondName
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Creation


def runtime_of(asked: Creation, creator: Actor) -> Choice:
    """Return whether a session gets a capsule, by what is asked and by the policy.

    Raises:
        HoldfastError: What is asked for is not allowed, or nothing that there is.

    """
    policy = PolicyInForce(lambda _: None).policy
    return choose(creator.kind, asked.runtime, asked.net, policy.runtime)


def hold_in_capsule(
    asked: Creation, session: SessionId, leader: spawn.Leader, size: Size
) -> Capsule:
    """Make a capsule that sees none of our folders; its leader waits for the word.

    Raises:
        HoldfastError: It cannot be made, or something of ours has a second name.

    """
    hidden = our_folders()
    for path in second_names(hidden):
        raise SecondName(path)
    pipe = ""
    if leader.secret:
        pipe = folders.session_pipe(session)
        leader = replace(leader, secret=shells.handed_over(session, STATE_PIPE))
    view = View(
        hidden,
        our_program(),
        pipe,
        is_root=exec_filter.is_privileged(),
        has_own_net=asked.net == "own",
        uid=os.getuid(),
    )
    return hold_leader(leader, view, size)


def our_folders() -> tuple[str, ...]:
    """Return where keys, policy, tokens, logbooks and sockets are, by their real paths.

    They are made if they are not there yet: what is put there later is hidden too.

    Raises:
        UsageError: One of them is not ours.
        NoCapsule: A link leads to one, which could be made to lead elsewhere.

    """
    found = (folders.runtime_path(), folders.state_path(), folders.config_path())
    made = [folders.owned(one) for one in found]
    for one in made:
        for link in links_to(one):
            if can_change(os.path.dirname(link)):  # noqa: PTH120  # a string here
                raise NoCapsule(f"{link} is a link, which could be changed in it")
    return tuple(map(os.path.realpath, made))


def our_program() -> tuple[str, ...]:
    """Return where the code is that runs outside, by real paths.

    A Python that others use as well is not ours: what is installed with it is found
    by all programs of the user, like those in the folders of PATH.
    """
    package = str(Path(__file__).parents[1])
    own = [package] if sys.prefix == sys.base_prefix else [sys.prefix, package]
    return tuple(outermost(map(os.path.realpath, own)))


def links_to(path: str) -> Iterator[str]:
    """Yield the links that are followed on the way to a path that is there."""
    reached, parts = "", path.strip("/").split("/")
    while parts:
        part = parts.pop(0)
        if part == "..":
            reached = reached.rpartition("/")[0]
            continue
        whole = f"{reached}/{part}"
        if not os.path.islink(whole):  # noqa: PTH114  # a string here
            reached = whole if part not in ("", ".") else reached
            continue
        yield whole
        target = os.readlink(whole)  # noqa: PTH115  # ditto
        reached = "" if target.startswith("/") else reached
        parts = [*target.strip("/").split("/"), *parts]


def second_names(hidden: tuple[str, ...]) -> Iterator[str]:
    """Yield files of ours that have a hard link where no cover is."""
    found: dict[tuple[int, int], list[str]] = {}
    links: dict[tuple[int, int], int] = {}
    for path in _files_in(outermost(hidden)):
        try:
            told = os.lstat(path)
        except FileNotFoundError:
            continue  # Others come and go.
        if stat.S_ISREG(told.st_mode) and told.st_nlink > 1:
            file = told.st_dev, told.st_ino
            found.setdefault(file, []).append(path)
            links[file] = told.st_nlink
    for file, paths in found.items():
        if len(paths) < links[file]:
            yield paths[0]


def _files_in(folders_: Iterable[str]) -> Iterator[str]:
    for folder in folders_:
        for above, _, names in os.walk(folder):
            yield from (f"{above}/{name}" for name in names)
