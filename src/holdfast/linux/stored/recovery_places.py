"""Where each session's recovery files are.

In the folder `sessions` of what outlives reboots:

    ID.facts    what the present life was started with
    ID.next     the same of a life whose command has not begun
    ID.tail0    the end of the output, ...
    ID.tail1    ... in two files that take turns
    ID.lock     locked while the session is being recovered
    ID.porting  which image of it is being made; locked until CRIU is done with it
    ID.move     where it goes, or went (linux/stored/move_notes.py)
    ID.moving   locked while it is moved
    ID.shell    the secrets of its shell, if another host has made them

A session is lost if its facts are here and nobody has it. Standard library only: the
keeper removes these files, and `ls` looks for them.
"""

# ruff: noqa: PTH108, PTH208  # pathlib is slow to load

import contextlib
import os

from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId

FACTS, NEXT, LOCK, PORTING = "facts", "next", "lock", "porting"
MOVE, MOVING, SHELL = "move", "moving", "shell"
TAILS = ("tail0", "tail1")
_PREFIX = "s_"
_DRAFT = ".new"


def folder() -> str:
    """Return the folder of these files.

    Raises:
        UsageError: It is not ours alone, or cannot be made.

    """
    return folders.owned(f"{folders.owned(folders.state_path())}/sessions")


def path_of(session: SessionId, kind: str) -> str:
    """Return one of the files of a session.

    Raises:
        UsageError: The place is not ours.

    """
    return f"{folder()}/{session}.{kind}"


def recorded() -> list[SessionId]:
    """Return every session that could be lost: those whose facts are here."""
    path = f"{folders.state_path()}/sessions"
    try:
        found = os.listdir(path)
    except OSError:
        return []
    ends = f".{FACTS}"
    return sorted(
        SessionId(one.removesuffix(ends))
        for one in found
        if one.startswith(_PREFIX) and one.endswith(ends)
    )


def remove(session: SessionId) -> None:
    """Remove everything: the session is over, or is not to be recovered."""
    # The facts go first: without them nothing else counts.
    for kind in (FACTS, NEXT, *TAILS, LOCK, PORTING, MOVING, SHELL):
        _remove(session, kind)


def remove_next(session: SessionId) -> None:
    """Remove what is kept of a life that did not begin."""
    _remove(session, NEXT)


def has_image(session: SessionId, number: int) -> bool:
    """Tell whether a session has an image of that number, which may be damaged."""
    return os.path.exists(_manifest(session, str(number)))  # noqa: PTH110  # pathlib is slow to load


def newest_image(session: SessionId) -> tuple[int, int]:
    """Return the newest image of a session, which may be damaged, and its time in ms.

    Both are 0 if it has none.
    """
    found = (0, 0)
    with contextlib.suppress(OSError):
        for name in os.listdir(f"{folders.state_path()}/images/{session}"):
            if name.isdecimal() and name.isascii() and int(name) > found[0]:
                with contextlib.suppress(OSError):  # It is not whole yet.
                    made = os.stat(_manifest(session, name))  # noqa: PTH116  # ditto
                    found = int(name), made.st_mtime_ns // 1_000_000
    return found


def _manifest(session: SessionId, number: str) -> str:
    return f"{folders.state_path()}/images/{session}/{number}/manifest"


def remove_note(session: SessionId) -> None:
    """Remove the note of an image that was being made of a life that is over."""
    _remove(session, PORTING)


def _remove(session: SessionId, kind: str) -> None:
    # Also where the place has become unfit: nothing depends on it.
    with contextlib.suppress(Exception):
        path = path_of(session, kind)
        for one in (path, f"{path}{_DRAFT}"):
            with contextlib.suppress(OSError):
                os.unlink(one)
