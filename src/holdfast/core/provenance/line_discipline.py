"""What a terminal does with a typed byte before any program reads it.

Theory of operation
-------------------
A terminal that reads whole lines (canonical) edits them itself, with special
characters that every program may change at any time: erase, kill, end of file,
literal next. Unsubmitted input can be followed there exactly, by those of the
moment. A terminal that hands on single keys edits nothing, whatever is typed: what
a program makes of a key, only that program knows.

Some bytes are changed on the way in (CR to NL), and some never come in at all
because they are signals; those throw away what was typed before, unless told not
to.

Invariants, checked by tests/core/provenance/test_line_discipline.py:

I1  Without the canonical mode every byte that is no signal, and that is let in,
    is TEXT.
I2  A character that is switched off means nothing, whatever it was before.
"""

import enum
from dataclasses import dataclass, field

DISABLED = 0
"""The value of a special character that nobody can type."""

NOT_PLAIN = b"\0"
"""What LineDiscipline.plain makes of a byte that must be looked at by itself."""

MAX_INTERRUPTS = 8
"""Interrupts in one input; more of them mean something else."""

_CR, _NL = 0x0D, 0x0A
_FIRST_PRINTABLE, _DELETE = 0x20, 0x7F


class Meaning(enum.Enum):
    """What a byte is to the terminal."""

    TEXT = "text"  # handed on, or put at the end of the line
    IGNORED = "ignored"  # not taken at all
    END = "end"  # the line is handed over, with its end
    FLUSH = "flush"  # what there is of the line is handed over, without an end
    ERASE = "erase"  # the last character is taken back
    ERASE_WORD = "erase-word"
    KILL = "kill"  # the whole line is taken back
    LITERAL = "literal"  # the next byte is text
    SIGNAL = "signal"  # a signal; what was typed before is thrown away
    QUIET_SIGNAL = "quiet-signal"  # a signal, and what was typed stays


@dataclass(frozen=True, slots=True)
class LineDiscipline:
    """How a terminal treats what is typed. The defaults are those of a new one."""

    canonical: bool = True
    echo: bool = True
    signals: bool = True
    extended: bool = True
    keeps: bool = False
    """Whether a signal leaves what was typed before."""

    cr_to_nl: bool = True
    nl_to_cr: bool = False
    ignores_cr: bool = False
    alters: bool = False
    """Whether bytes are changed on the way in that are not followed here."""

    utf8: bool = False
    """Whether an erase takes back a character of several bytes."""

    erase: int = 0x7F
    erase_word: int = 0x17
    kill: int = 0x15
    literal: int = 0x16
    end_of_file: int = 0x04
    ends: tuple[int, ...] = ()
    """What has a line handed over besides NL, which its reader takes for its end."""

    interrupts: tuple[int, ...] = (0x03, 0x1C, 0x1A)
    """What makes a signal."""

    swallows: tuple[int, ...] = (0x11, 0x13)
    """What stops and starts the output, and what shows the line again."""

    meanings: tuple[Meaning, ...] = field(init=False, compare=False, repr=False)
    """What each byte is, if it does not follow a literal next."""

    edits: bool = field(init=False, compare=False, repr=False)
    """Whether the terminal itself edits lines, in a way that can be followed."""

    plain: bytes = field(init=False, compare=False, repr=False)
    """A table for `bytes.translate`: NOT_PLAIN for each byte that may be more than
    a printable character, to the terminal or to a program that edits its line."""

    def __post_init__(self) -> None:
        # The assignments that a frozen value has: they are made from the others.
        found = tuple(map(self._meaning, range(256)))
        object.__setattr__(self, "meanings", found)
        table = bytes(map(self._is_plain, range(256)))
        object.__setattr__(self, "plain", table)
        object.__setattr__(self, "edits", self.canonical and not self.alters)

    def _is_plain(self, byte: int) -> bool:
        is_printable = byte >= _FIRST_PRINTABLE and byte != _DELETE
        return is_printable and self.meanings[byte] is Meaning.TEXT

    @property
    def is_line_editor(self) -> bool:
        """Whether it is set as readline and zle set it: single keys, but signals.

        Both switch the literal next off, because they have one of their own.
        """
        hands_on = not self.canonical and not self.echo and self.signals
        return hands_on and self.literal == DISABLED

    def is_interrupt(self, typed: bytes) -> bool:
        """Tell whether the terminal makes an interrupt of this, and hands on none."""
        key = self.interrupts[0]
        is_control = 0 < key < _FIRST_PRINTABLE or key == _DELETE
        is_short = 0 < len(typed) <= MAX_INTERRUPTS
        is_on = self.signals and is_control and is_short
        return is_on and typed == bytes([key]) * len(typed)

    def _meaning(self, byte: int) -> Meaning:
        if byte == DISABLED or self.alters:
            return Meaning.TEXT
        if self.signals and byte in self.interrupts:
            return Meaning.QUIET_SIGNAL if self.keeps else Meaning.SIGNAL
        if byte in self.swallows or (byte == _CR and self.ignores_cr):
            return Meaning.IGNORED
        return self._edit(self._translated(byte)) if self.canonical else Meaning.TEXT

    def _translated(self, byte: int) -> int:
        if byte == _CR and self.cr_to_nl:
            return _NL
        return _CR if byte == _NL and self.nl_to_cr else byte

    def _edit(self, byte: int) -> Meaning:
        meant = dict.fromkeys((self.end_of_file, *self.ends), Meaning.FLUSH)
        meant[_NL] = Meaning.END
        if self.extended:
            meant[self.literal] = Meaning.LITERAL
            meant[self.erase_word] = Meaning.ERASE_WORD
        meant[self.kill] = Meaning.KILL
        meant[self.erase] = Meaning.ERASE
        return meant.get(byte, Meaning.TEXT)
