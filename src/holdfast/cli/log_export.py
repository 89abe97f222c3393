"""Exports a logbook into a file, whole or not at all.

It is written under a temporary name beside its destination, and gets its own
name only when all of it is on the disk. Nothing is ever replaced unasked.
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
"""What the front door reports as output that could not be written."""


def write_export(
    place: str,
    session: SessionId,
    count: int,
    lines: Iterable[bytes],
    signed: SignedHead | None,
    *,
    force: bool,
) -> None:
    """Write a book of `count` entries to a file, however many there are.

    Raises:
        UsageError: The file is there already, or cannot be made.

    """
    path = Path(place)
    draft = path.parent / f".{path.name}.{os.getpid()}"
    try:
        _write(draft, export_lines(session, count, lines, signed))
        if force:
            draft.replace(path)
        else:
            path.hardlink_to(draft)  # Unlike renaming, it replaces nothing.
    except FileExistsError:
        raise _refusal(path, "it is there already; --force replaces it") from None
    except OSError as error:
        if error.errno in _DISK:
            raise
        raise _refusal(path, error.strerror or "it cannot be made") from error
    finally:
        with contextlib.suppress(OSError):  # It has its own name now, or never was.
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
