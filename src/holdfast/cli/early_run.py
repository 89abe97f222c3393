"""Runs a short command in a session's shell before the rest is loaded.

What takes longer, prints something that is not plain text, or waits for somebody is
left to the ordinary way, which shows it from its beginning.
"""

import time

from holdfast.client import early_session
from holdfast.client.early_session import EarlyOperator, EarlySession
from holdfast.core.client.early_command import EarlyCommand
from holdfast.wire import first_messages as first
from holdfast.wire.first_messages import PATIENCE, NotOneOfThese

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT = 0.15
"""Seconds after which it is left to what shows output as it comes."""

SOON = 0.001
"""Seconds for what has come already."""

MAX_LINE = 64 * 1024
"""Bytes of a line, Enter included; as in model.inputs, which is slow to load."""

PRESENCE = 0x91

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BARE = frozenset(f"{_LETTERS}{_LETTERS.upper()}0123456789@%+=:,./-_")
"""What needs no quotes in any shell; as in `shlex`."""


def run(text: str, words: "Sequence[str]") -> tuple[str, int] | None:
    """Run a command; return what `holdfast run` prints, and the command's status.

    Raises:
        NotOneOfThese: There is something unusual about it.

    """
    line = _line(words)
    if not line:
        return None
    us = EarlyOperator()
    seed = us.seed()
    # Elsewhere everything takes longer.
    found = None if "/" in text else early_session.find(text)
    if found is None:
        return None
    early_session.keep(found)

    def sign(made: first.Fields) -> bytes:
        return early_session.statement(found, made, seed) or b""

    command = EarlyCommand(
        (found.client, us.actor),
        line,
        lambda at: found.attach("operate", after=at),
        sign,
    )
    if not found.reach(command.asks_first()):
        return None
    return _ran(found, command)


def _ran(found: EarlySession, command: EarlyCommand) -> tuple[str, int]:
    until = time.monotonic() + SHORT
    try:
        while not command.is_over:
            found.waits(max(SOON, until - time.monotonic()))
            _heard(found, command)
        result = command.result()
        found.waits(PATIENCE)
        if leaving := command.leaves():
            found.send(leaving)
            while PRESENCE not in [kind for kind, _ in found.receive()]:
                pass
    except KeyboardInterrupt:
        _leave(found, command)
        raise
    return result


def _leave(found: EarlySession, command: EarlyCommand) -> None:
    """Give the turn back, if there is still somebody to give it to."""
    try:
        found.send(command.leaves())
    except NotOneOfThese:
        return


def _heard(found: EarlySession, command: EarlyCommand) -> None:
    frames = found.receive()
    said = b"".join(command.hear(kind, payload) for kind, payload in frames)
    if said:
        found.send(said)
    if command.has_begun:
        # Slow to load, and there is nothing else to do now.
        import holdfast.crypto.keys  # noqa: F401, PLC0415


def _line(words: "Sequence[str]") -> bytes:
    """Return the line that is typed; none if something has to be said about it."""
    text = words[0] if len(words) == 1 else _joined(words)
    is_usual = text.isascii() and text.isprintable() and bool(text.strip())
    return text.encode() if is_usual and len(text) < MAX_LINE else b""


def _joined(words: "Sequence[str]") -> str:
    if all(word and _BARE.issuperset(word) for word in words):
        return " ".join(words)
    import shlex  # noqa: PLC0415  # slow to load

    return shlex.join(words)
