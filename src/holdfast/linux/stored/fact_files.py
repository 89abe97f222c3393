"""Small files of facts: written whole or not at all, and readable only by us."""

import json
import os
from pathlib import Path
from typing import Any


def write_facts(path: Path, facts: dict[str, Any]) -> None:
    """Put facts in the place of whatever the file held.

    Raises:
        OSError: They could not be written; the file is as it was.

    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(draft, flags, 0o600)
    try:
        os.write(fd, json.dumps(facts, indent=2).encode() + b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
    draft.rename(path)


def read_facts(path: Path, limit: int) -> dict[str, Any]:
    """Return the facts of a file that is at most `limit` bytes long, and no link.

    Raises:
        OSError: It is not there, or is a link.
        ValueError: It holds something else.

    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        facts = json.loads(os.read(fd, limit))
    finally:
        os.close(fd)
    if not isinstance(facts, dict):
        raise ValueError(f"{path.name} is no object")  # noqa: TRY004  # as from json
    return facts
