"""The relays through which this host can be reached.

The file `relays` in the configuration folder: one address per line; empty lines
and what follows a # are for people. There is no file until a relay is named.
"""

import contextlib
import os

from holdfast.linux.stored import places

MAX_FILE = 16 * 1024
"""Bytes of the file that are read."""

MAX_RELAYS = 8
"""Relays used at the same time."""


def written_down() -> list[str]:
    """Return the relays in their order, each once."""
    try:
        raw = places.relays_file().read_bytes()[:MAX_FILE]
    except FileNotFoundError:
        return []
    lines = raw.decode("utf-8", "replace").splitlines()
    found = [line.partition("#")[0].strip() for line in lines]
    return list(dict.fromkeys(filter(None, found)))[:MAX_RELAYS]


def add(relay: str) -> None:
    """Write a relay down, last of all, unless it is there already."""
    path = places.relays_file()
    if relay in written_down():
        return
    text = ""
    with contextlib.suppress(FileNotFoundError):
        text = path.read_text()
    if text and not text.endswith("\n"):
        text += "\n"
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(f"{text}{relay}\n")
    draft.chmod(0o600)
    draft.rename(path)
