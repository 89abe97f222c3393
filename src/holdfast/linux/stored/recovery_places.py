"""Where it is kept of each session what it takes to begin it again.

In the folder `sessions` of what outlives reboots:

    ID.facts    what the present life was started with
    ID.next     the same of a life whose command has not begun
    ID.tail0    the end of the output, ...
    ID.tail1    ... in two files that take turns
    ID.lock     locked while the session is being recovered

A session is lost if its facts are here and nobody has it. Standard library only: the
keeper removes these files, and `ls` looks for them.
"""

# ruff: noqa: PTH108, PTH208  # pathlib is slow to load

import contextlib
import os

from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId

FACTS, NEXT, LOCK = "facts", "next", "lock"
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
    for kind in (FACTS, NEXT, *TAILS, LOCK):
        _remove(session, kind)


def remove_next(session: SessionId) -> None:
    """Remove what is kept of a life that did not begin."""
    _remove(session, NEXT)


def _remove(session: SessionId, kind: str) -> None:
    # Also where the place has become unfit: nothing depends on it.
    with contextlib.suppress(Exception):
        path = path_of(session, kind)
        for one in (path, f"{path}{_DRAFT}"):
            with contextlib.suppress(OSError):
                os.unlink(one)
