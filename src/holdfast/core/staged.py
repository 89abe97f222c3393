"""What has been typed and not yet entered, and by whom?

Theory of operation
-------------------
The bytes since the last line end are staged: whoever presses Return next runs
them. Each run of bytes is kept with the operator who typed it, so that a
hand-over can show them and an entered line can be attributed byte by byte.

Only what can be followed without knowing the program is followed: an erase takes
the last character back, a kill or an interrupt all of them. Anything else that
edits a line (escape sequences, other control characters) leaves the bytes in
place and marks the line as *edited*: what stands there is then a guess, and
whoever decides by it must not take it for the truth.

What was typed while the terminal did not echo is counted and not kept.

Whoever takes a character of somebody else's back, edits the line or types into
it unseen has a hand in what stands there, and is named with those who typed it.

Invariants, checked by tests/core/test_staged.py:

I1  Every byte kept was typed since the last line end, by the operator it is
    kept with, with echo on.
I2  What is kept is bounded.
I3  Whoever shaped a line since the last line end is among those it is said to
    be by.
"""

from dataclasses import dataclass, field

from holdfast.model.ids import ActorId

MAX_STAGED = 4096
"""Bytes kept: what a canonical terminal takes in one line."""

_LINE_ENDS = b"\r\n\x04"
_DROPS = b"\x03\x15\x1c"
"""Interrupt, kill and quit: the line is gone."""

_ERASE = b"\x08\x7f"
_FIRST_PRINTABLE = 0x20
_TAB = 0x09
_CONTINUATION = range(0x80, 0xC0)


@dataclass(frozen=True, slots=True)
class Staged:
    """An unfinished line, as far as it is known."""

    data: bytes = b""
    by: tuple[ActorId, ...] = ()
    """Who typed it, in the order of its bytes, then who else shaped it."""

    is_edited: bool = False
    hidden: int = 0
    """Bytes typed without echo, which are not here."""

    @property
    def is_empty(self) -> bool:
        """Whether pressing Return would enter nothing that was typed."""
        return not self.data and not self.hidden and not self.is_edited


@dataclass(slots=True)
class StagedLine:
    """The line that stands at a session's prompt."""

    _typed: bytearray = field(default_factory=bytearray)
    _by: list[ActorId] = field(default_factory=list)
    _shapers: dict[ActorId, None] = field(default_factory=dict)
    _is_edited: bool = False
    _hidden: int = 0

    def typed(self, actor: ActorId, data: bytes, *, echo_off: bool) -> list[Staged]:
        """Take note of bytes that went to the terminal; return what they entered."""
        entered: list[Staged] = []
        for byte in data:
            if byte in _LINE_ENDS:
                entered.append(self.stands())
                self._clear()
            elif byte in _DROPS:
                self._clear()
            elif echo_off:
                self._hidden += 1
                self._shapers[actor] = None
            elif byte in _ERASE:
                self._erase(actor)
            elif byte >= _FIRST_PRINTABLE or byte == _TAB:
                self._add(actor, byte)
            else:
                self._edit(actor)
        return entered

    def stands(self) -> Staged:
        """Return what is staged now."""
        by = tuple(dict.fromkeys([*self._by, *self._shapers]))
        return Staged(bytes(self._typed), by, self._is_edited, self._hidden)

    def owners(self) -> tuple[ActorId, ...]:
        """Return who typed each byte that is kept."""
        return tuple(self._by)

    def _add(self, actor: ActorId, byte: int) -> None:
        if byte == _TAB or len(self._typed) >= MAX_STAGED:
            self._edit(actor)  # Completion may have added what nobody typed.
            return
        self._typed.append(byte)
        self._by.append(actor)

    def _edit(self, actor: ActorId) -> None:
        self._is_edited = True
        self._shapers[actor] = None

    def _erase(self, actor: ActorId) -> None:
        if self._by and self._by[-1] != actor:
            self._shapers[actor] = None
        while self._typed and self._typed[-1] in _CONTINUATION:
            self._drop_last()
        if self._typed:
            self._drop_last()

    def _drop_last(self) -> None:
        del self._typed[-1], self._by[-1]

    def _clear(self) -> None:
        self._typed.clear()
        self._by.clear()
        self._shapers.clear()
        self._is_edited, self._hidden = False, 0
