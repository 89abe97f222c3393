"""Starts a session's leader in a capsule, which sees nothing of holdfast."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from holdfast.core.capsule.mount_table import outermost
from holdfast.holder.leader_environment import BRANCH
from holdfast.linux import exec_filter, shells, spawn
from holdfast.linux.capsule.start import Capsule, hold_leader
from holdfast.linux.capsule.view import STATE_PIPE, View, can_change
from holdfast.linux.own_files import trees_for
from holdfast.linux.stored import folders, layer_store
from holdfast.model.errors import NoCapsule, SecondName
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.model.session_record import CapsuleRecord
from holdfast.model.session_requests import Creation

_SERVED = ("SSH_AUTH_SOCK",)
"""Variables that name a socket of a program that serves the user's programs."""


def hold_in_capsule(
    asked: Creation, session: SessionId, leader: spawn.Leader, size: Size
) -> Capsule:
    """Make a capsule that sees none of our folders; its leader waits for the word.

    Raises:
        HoldfastError: It cannot be made, or a holdfast file has a second name.

    """
    if leader.secret:
        leader = replace(leader, secret=shells.handed_over(session, STATE_PIPE))
    view = view_for(asked, session, leader)
    if asked.files != "own":
        return hold_leader(leader, view, size)
    stack = stack_for(asked, session)
    view = with_layers(view, stack, leader.environment)
    made = hold_leader(leader, view, size)
    return replace(made, record=recorded(made.record, stack))


def stack_for(asked: Creation, session: SessionId) -> layer_store.Stack:
    """Return what the files of a session are made of; a lost one goes on with its own.

    Raises:
        HoldfastError: They cannot be had.

    """
    if asked.recover:
        return layer_store.load(session)
    return layer_store.make(session, trees_for(asked.cwd))


def with_layers(
    view: View, stack: layer_store.Stack, environment: Mapping[str, str]
) -> View:
    """Return what a capsule sees with these files of its own."""
    served = (environment.get(one, "") for one in _SERVED)
    found = tuple(os.path.realpath(one) for one in served if _is_socket(one))
    return view._replace(layers=layer_store.layered(stack), served=found)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)  # noqa: PTH116  # a string here
    except (OSError, ValueError):
        return False


def recorded(record: CapsuleRecord, stack: layer_store.Stack) -> CapsuleRecord:
    """Return the record of a capsule with these files."""
    return record._replace(files="own", trees=stack.trees, layers=stack.layers)


def view_for(asked: Creation, session: SessionId, leader: spawn.Leader) -> View:
    """Return what the capsule of a session is to see.

    Raises:
        HoldfastError: A holdfast file has a second name, or another owner.

    """
    hidden = our_folders()
    for path in second_names(hidden):
        raise SecondName(path)
    return View(
        hidden,
        our_program(),
        folders.session_pipe(session) if leader.secret else "",
        is_root=exec_filter.is_privileged(),
        has_own_net=asked.net == "own",
        uid=os.getuid(),
        token=leader.environment.get(BRANCH, ""),
    )


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
    """Yield holdfast's files that have a hard link outside the covered folders."""
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
