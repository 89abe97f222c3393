"""What is stored of a session on disk, and how it is recovered from that.

Theory of operation
-------------------
A session survives any single holdfast process, but not all of them at once, and not the
machine. So that it can be begun again under its own identity, two things are on disk:

    StartFacts    what it was started with; written once in each life
    OutputTail    the end of its output, and what changes: name, size, keep mark;
                  written now and then while something is printed

The next life shows the tail, then a banner that says what is gone, and runs the
command anew. Nothing here decides whether a session lives: processes do
(linux/stored/recovery_files.py, holder/recovered_session.py).

Both are MessagePack. What cannot be read counts as not kept.

Invariants, checked by tests/core/session/test_recovery.py:

I1  What was written is read again, and nothing else raises anything but PeerError.
I2  A tail has at most MAX_TAIL bytes of output.
I3  After `begin_anew` no mode of the earlier life is on, and its last line is ended.
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import msgspec

from holdfast.core.session.paint_requests import Past, Picture
from holdfast.model.errors import HoldfastError, MalformedMessage
from holdfast.model.ids import Incarnation, SessionId
from holdfast.model.limits import NO_LIMITS, Limits
from holdfast.model.session_record import ParentRecord
from holdfast.term.alternate import last_switch

FORMAT = 1

MAX_TAIL = 512 * 1024
"""Bytes of output kept on disk: some five thousand lines, and a millisecond's work."""

FLUSH_AFTER = 10.0
"""Seconds from the first byte that is not on disk until it is."""

_STOP = b"\x18\x1b\\"
"""Ends whatever sequence was cut in the middle."""

_LEAVE = b"\x1b[?1049l"
_MODES = (1, 9, 66, 69, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004)
"""Private modes that programs leave on: keypad and cursor keys, mouse, pasting."""

_PLAIN = (
    b"\x1b7\x1b[r\x1b8\x1b[4l\x1b[0m\x1b(B\x0f"
    + b"".join(b"\x1b[?%dl" % mode for mode in (*_MODES, 2026, 2031, 2048))
    + b"\x1b[=0u\x1b[>4m\x1b[0 q\x1b>\x1b[?7h\x1b[?25h"
)
"""The whole screen scrolls, plain letters, no modes, no other keys, a visible cursor.

No soft reset: that moves the cursor, over what is to be seen."""


class LeaderMark(NamedTuple):
    """By which the leader of a life is known again, for as long as a machine runs."""

    pid: int
    started: int
    """Clock ticks since boot."""

    boot: str
    """The id of the boot that those are counted from."""


@dataclass(frozen=True, slots=True)
class StartFacts:
    """What one life of a session was started with."""

    session: SessionId
    incarnation: Incarnation
    name: str
    first_name: str
    command: tuple[str, ...]
    cwd: str
    environment: dict[str, str] | None
    """None if it is not to be kept."""

    is_grounded: bool
    """Whether that comes on top of what the host has set, whatever that is then."""

    size: tuple[int, int]
    window: int
    integration: bool
    exec_gate: bool
    creator: str
    created_ms: int
    leader: LeaderMark
    net: str = ""
    """The network of its capsule, host or own; empty if it was in none."""

    files: str = ""
    """Its files likewise: shared or own; empty if older code wrote this."""

    shell_of: str = ""
    """Of a branch: the session whose secrets its shell knows."""

    parent: ParentRecord | None = None
    """Of a branch: the session that it was made from."""

    limits: Limits = NO_LIMITS
    """Memory, processors and processes that it may have; 0 is no limit."""

    authority: str = ""
    """The relay that says which host may speak for it; empty if it is not movable."""

    since: int = 0
    """Of a life that was moved: the first whose inputs it owes an answer."""

    def to_bytes(self) -> bytes:
        """Return it as it is written down."""
        given = self.environment
        texts: _Texts = (
            tuple(map(_raw, self.command)),
            _raw(self.cwd),
            None if given is None else {_raw(one): _raw(given[one]) for one in given},
        )
        rest = replace(self, command=(), cwd="", environment=None)
        return msgspec.msgpack.encode((FORMAT, rest, texts))


@dataclass(frozen=True, slots=True)
class OutputTail:
    """The end of a session's output, and what has changed about the session."""

    incarnation: Incarnation
    at_ms: int
    name: str
    keep: bool
    size: tuple[int, int]
    start: int
    """The offset of the first byte."""

    data: bytes
    painting: Past

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.start + len(self.data)

    def to_bytes(self) -> bytes:
        """Return it as it is written down."""
        return msgspec.msgpack.encode((FORMAT, self))


_Texts = tuple[tuple[bytes, ...], bytes, dict[bytes, bytes] | None]
"""Words, folder and variables, which need not be text: any byte may be in them."""

_FACTS = msgspec.msgpack.Decoder(tuple[Literal[1], StartFacts, _Texts])
_TAIL = msgspec.msgpack.Decoder(tuple[Literal[1], OutputTail])


def read_facts(raw: bytes, session: SessionId) -> StartFacts:
    """Read what a life was started with.

    Raises:
        PeerError: It is damaged, of another version, or of another session.

    """
    try:
        _, rest, (command, cwd, given) = _FACTS.decode(raw)
        variables = None
        if given is not None:
            variables = {_text(one): _text(value) for one, value in given.items()}
        found = replace(
            rest,
            command=tuple(map(_text, command)),
            cwd=_text(cwd),
            environment=variables,
        )
    except (msgspec.MsgspecError, ValueError, RecursionError, HoldfastError) as error:
        raise MalformedMessage("facts of a session", str(error)) from None
    if found.session != session or not found.command:
        raise MalformedMessage("facts of a session", "they are of another one")
    return found


def read_tail(raw: bytes) -> OutputTail:
    """Read the end of a session's output.

    Raises:
        PeerError: It is damaged, or of another version.

    """
    try:
        found = _TAIL.decode(raw)[1]
    except (msgspec.MsgspecError, ValueError, RecursionError, HoldfastError) as error:
        raise MalformedMessage("output of a session", str(error)) from None
    if found.start < 0 or len(found.data) > MAX_TAIL:
        raise MalformedMessage("output of a session", "it is too much")
    return found


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def painting_for(past: Past, start: int) -> Past:
    """Return of a painting what belongs to output that is kept from `start` on."""
    kept: Picture | None = past.kept
    if kept is not None and kept.offset < start:
        kept = None
    return Past(past.is_whole and start == 0, start, past.sizes, kept)


def begin_anew(tail: bytes, banner: str) -> bytes:
    """Return what is printed after a tail: its modes undone, and a banner."""
    leave = _LEAVE if last_switch(tail) else b""
    lines = "".join(f"{line}\r\n" for line in banner.split("\n"))
    return _STOP + leave + _PLAIN + b"\r\n" + lines.encode()


def banner(incarnation: Incarnation, by: str, at: str, kept_until: str) -> str:
    """Return what people are told of a session that was begun anew.

    `kept_until` is when what is shown above was kept; empty if nothing is.
    """
    above = (
        f"Above: its output as it was kept at {kept_until}."
        if kept_until
        else "Of its output nothing was kept."
    )
    return (
        f"\x1b[7m holdfast: recovered at {at} by {by} (incarnation {incarnation}) "
        f"\x1b[0m\n{above}\n"
        "Gone: the processes of the earlier life and all that they had in memory.\n"
        "The command was started again.\n"
    )
