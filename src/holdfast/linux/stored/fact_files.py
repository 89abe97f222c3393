"""Small files of facts: written whole or not at all, and readable only by us."""

import json
import os
from pathlib import Path
from typing import Any

from holdfast.linux.stored.small_files import read_file, write_file


def write_facts(path: Path, facts: dict[str, Any]) -> None:
    """Put facts in the place of whatever the file held.

    Raises:
        OSError: They could not be written; the file is as it was.

    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    write_file(draft, json.dumps(facts, indent=2).encode() + b"\n")
    draft.rename(path)


def read_facts(path: Path, limit: int) -> dict[str, Any]:
    """Return the facts of a file that is at most `limit` bytes long, and no link.

    Raises:
        OSError: It is not there, or is a link.
        ValueError: It holds something else.

    """
    facts = json.loads(read_file(path, limit))
    if not isinstance(facts, dict):
        raise ValueError(f"{path.name} is not an object")  # noqa: TRY004  # as from json
    return facts
