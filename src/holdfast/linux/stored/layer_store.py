"""The layers of sessions with their own files.

    layers/SESSION/            0700, hidden from every capsule
        stack                  which trees there are, and which layers, the lowest first
        LAYER/TREE/            what is changed in a tree, both by number, as an overlay
                               keeps it; the last layer is the one that changes
        work/TREE/             what the kernel needs beside the last layer

A layer is made before the stack names it, and removed after the stack has forgotten
it: what no stack names is what a dead one left, and is swept.
"""

# ruff: noqa: PTH101, PTH103, PTH112, PTH116, PTH208
# Plain strings: this is done at every start of a capsule.

import contextlib
import json
import os
import shutil
import stat
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.linux.capsule.overlays import Layered
from holdfast.linux.stored import folders, own_user
from holdfast.linux.stored.small_files import read_file, replace_file
from holdfast.model.errors import HoldfastError, NoOwnFiles
from holdfast.model.ids import SessionId, parse_session_id

STACK, WORK = "stack", "work"
_MAX_STACK = 1024 * 1024
_ACLS = ("system.posix_acl_access", "system.posix_acl_default")


class Stack(NamedTuple):
    """What the files of one session are made of."""

    session: SessionId
    trees: tuple[str, ...]
    """Real paths, outer ones first."""

    layers: tuple[str, ...]
    """The lowest first; the last one changes."""


def make(session: SessionId, trees: tuple[str, ...]) -> Stack:
    """Begin the files of a session: the machine's, and one layer over them.

    Raises:
        Unavailable: The disk is full, or broken, or a tree is of no use.
        UsageError: The place is not ours.

    """
    folder = _folder(session)
    stack = Stack(session, trees, ("1",))
    with _writing():
        folders.owned(folder)
        add_layer(stack, "1")
        write(stack)
    return stack


def load(session: SessionId) -> Stack:
    """Return what the files of a session are made of.

    Raises:
        Unavailable: They are not there, or cannot be read.

    """
    try:
        said = json.loads(read_file(f"{_folder(session)}/{STACK}", _MAX_STACK))
        trees, layers = said["trees"], said["layers"]
        return Stack(session, tuple(map(_path, trees)), tuple(map(_number, layers)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"its layers cannot be read: {error}"
        raise NoOwnFiles(why) from error


def has(session: SessionId) -> bool:
    """Tell whether a session has files of its own."""
    return os.path.exists(f"{_home()}/{session}/{STACK}")  # noqa: PTH110  # as above


def write(stack: Stack) -> None:
    """Let these be the files of a session; layers that it does not name are swept.

    Raises:
        OSError: They are what they were.

    """
    told = {"trees": stack.trees, "layers": stack.layers}
    replace_file(f"{_folder(stack.session)}/{STACK}", json.dumps(told).encode())
    for name in os.listdir(_folder(stack.session)):
        if name.isdigit() and name not in stack.layers:
            with contextlib.suppress(HoldfastError, OSError):
                clear(f"{_folder(stack.session)}/{name}")


def layered(stack: Stack) -> tuple[Layered, ...]:
    """Return where what is changed in each tree is."""
    folder = _folder(stack.session)
    return tuple(
        Layered(
            tree,
            tuple(f"{folder}/{layer}/{number}" for layer in stack.layers[:-1]),
            f"{folder}/{stack.layers[-1]}/{number}",
            f"{folder}/{WORK}/{number}",
        )
        for number, tree in enumerate(stack.trees)
    )


def add_layer(stack: Stack, name: str) -> None:
    """Make a layer in which nothing has been changed.

    Raises:
        OSError: The disk is full, or broken.

    """
    folder = _folder(stack.session)
    for number, tree in enumerate(stack.trees):
        upper = f"{folder}/{name}/{number}"
        os.makedirs(upper, 0o700, exist_ok=True)
        _be_like(upper, tree)
    add_work(stack)


def add_work(stack: Stack) -> None:
    """Make the folders that the kernel needs beside the last layer.

    Raises:
        OSError: The disk is full, or broken.

    """
    for number in range(len(stack.trees)):
        work = f"{_folder(stack.session)}/{WORK}/{number}"
        os.makedirs(work, 0o700, exist_ok=True)


def began_ns(stack: Stack) -> int:
    """Return when the lowest layer began; a copy of it has the same time."""
    return os.stat(f"{_folder(stack.session)}/{stack.layers[0]}").st_mtime_ns


def remove(session: SessionId) -> None:
    """Remove the files of a session, if it has any. It must be over.

    Raises:
        Unavailable: They cannot be removed.

    """
    folder = f"{_home()}/{parse_session_id(session)}"
    with contextlib.suppress(FileNotFoundError), _writing():
        # Without a stack nothing else counts.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{folder}/{STACK}")  # noqa: PTH108  # as above
        clear(folder)


def sessions() -> list[SessionId]:
    """Return which sessions have files of their own, or have left some."""
    found = []
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(_home())):
            with contextlib.suppress(HoldfastError):
                found.append(parse_session_id(name))
    return found


def age(session: SessionId) -> float:
    """Return when the files of a session were begun, for putting them in order."""
    try:
        return os.stat(f"{_home()}/{session}").st_mtime
    except OSError:
        return 0.0


def folder_of(session: SessionId) -> str:
    """Return where the layers of a session are."""
    return _folder(session)


def _path(said: object) -> str:
    if not isinstance(said, str) or not said.startswith("/"):
        raise ValueError(said)
    return said


def _number(said: object) -> str:
    return str(int(str(said)))


def _home() -> str:
    return f"{folders.state_path()}/layers"


def _folder(session: SessionId) -> str:
    folders.owned(folders.owned(folders.state_path()) + "/layers")
    return f"{_home()}/{parse_session_id(session)}"


def _be_like(folder: str, tree: str) -> None:
    """Give the top of a layer what the overlay is to show of the tree's own folder.

    A tree that is gone, as a disk that was unmounted, shows nothing.
    """
    try:
        told = os.stat(tree)
    except (FileNotFoundError, NotADirectoryError):
        return
    if told.st_uid != os.getuid() or told.st_gid != os.getgid():
        # An ordinary user cannot; the folder is theirs then, which is no harm.
        with contextlib.suppress(PermissionError):
            os.chown(folder, told.st_uid, told.st_gid)
    os.chmod(folder, stat.S_IMODE(told.st_mode))
    for name in _ACLS:
        with contextlib.suppress(OSError):
            os.setxattr(folder, name, os.getxattr(tree, name))


def clear(folder: str) -> None:
    """Remove a folder of the store, if it is there.

    Raises:
        OSError: It cannot be removed.

    """
    if not os.path.isdir(folder):
        return
    try:
        shutil.rmtree(folder)
    except PermissionError:
        # The kernel's own folders, and some of programs, are closed to their owner.
        own_user.run(("rm", "-rf", "--", folder))


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise NoOwnFiles(f"{where}{error.strerror or error}") from error
