"""Exports a logbook to a file, whole or not at all.

It is written under a temporary name beside its destination, and renamed only when all
of it is on disk. An existing file is replaced only on request.
"""

import contextlib
import errno
import os
from collections.abc import Iterable
from pathlib import Path

from holdfast.core.book.log_export import export_lines
from holdfast.core.book.signed_head import SignedHead
from holdfast.model.errors import MalformedArgument
from holdfast.model.ids import SessionId
from holdfast.model.text import printable

_MAX_PATH = 200

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""How the main program reports output that could not be written."""


def write_export(
    place: str,
    session: SessionId,
    count: int,
    lines: Iterable[bytes],
    signed: SignedHead | None,
    *,
    force: bool,
) -> None:
    """Write a logbook of `count` entries to a file, however long it is.

    Raises:
        UsageError: The file exists already, or cannot be created.

    """
    path = Path(place)
    draft = path.parent / f".{path.name}.{os.getpid()}"
    try:
        _write(draft, export_lines(session, count, lines, signed))
        if force:
            draft.replace(path)
        else:
            path.hardlink_to(draft)  # Unlike a rename, a link replaces nothing.
    except FileExistsError:
        raise _refusal(path, "it exists already; --force replaces it") from None
    except OSError as error:
        if error.errno in _DISK:
            raise
        raise _refusal(path, error.strerror or "it cannot be created") from error
    finally:
        with contextlib.suppress(OSError):  # It was renamed, or never created.
            draft.unlink()


def _write(draft: Path, lines: Iterable[bytes]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
        for line in lines:
            file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _refusal(path: Path, why: str) -> MalformedArgument:
    return MalformedArgument(printable(str(path), _MAX_PATH), f"a new file: {why}")
