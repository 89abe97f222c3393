"""Input that was typed and perhaps not submitted, and who typed it.

Theory of operation
-------------------
Pressing Enter runs the whole line, so nothing that anyone typed may be forgotten
before it is known to be gone. What is known, and from whom:

- The kernel edits the lines of a terminal that reads whole lines, by special
  characters that are known (core.provenance.line_discipline). There a line is followed
  exactly: what is killed is gone, and what is ended has been handed over.
- A line editor makes of a key what it likes: C-u may kill or insert, Return may be
  text in a paste. There nothing is gone before the shell says so by a mark: that it
  executes a line, or shows a prompt. Until then a line that was ended *perhaps*
  still stands there.
- What was typed while a command ran may have been read by that or wait for the
  shell. It is gone if nothing was left to be read when the command had ended.

A line is kept in parts, one for each key that may have ended it. Each mark says
that one of them is gone: the oldest, or the one that the shell executes and all
before it. A part of which only a guess can be made is *edited*; what stands there
is then not known, and no decision may rely on it.

Where no mark will ever come (in a program without marks, or one that runs), an operator
who presses Enter or interrupts after others typed in the line takes it over: that
key was judged with all of them, and they are named no more.

What was typed while the terminal did not echo is counted and not kept. One who
deletes another operator's character, edits the line or types into it unseen
has a hand in what stands there, and is named with those who typed it.

Invariants, checked by tests/core/provenance/test_staged.py and test_staged_model.py:

I1  Every byte kept was typed by the operator it is kept with, with echo on.
I2  What is kept is bounded.
I3  An operator who typed in a line that is not known to be gone is among those it is
    attributed to, unless another operator has taken it over.
I4  At the prompt of a shell with marks, nothing but a mark forgets.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from holdfast.core.provenance.line_discipline import NOT_PLAIN, LineDiscipline, Meaning
from holdfast.core.provenance.matching_lines import lines_of
from holdfast.core.shell.unfinished import may_go_on
from holdfast.model.ids import ActorId

MAX_STAGED = 4096
"""Bytes kept: what a canonical terminal takes in one line."""

MAX_PARTS = 64
"""Lines kept that may have been entered, or not."""

LINE_EDITOR = LineDiscipline(canonical=False, echo=False, cr_to_nl=False, literal=0)
"""How the terminal of a program that edits its line is set, if it was not seen."""

_LINE_ENDS = b"\r\n"
_INTERRUPT = 0x03
_ERASE = b"\x08\x7f"
_FIRST_PRINTABLE = 0x20
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

    is_erased: bool = False
    """Whether it is edited by nothing but taking characters back."""

    @property
    def is_empty(self) -> bool:
        """Whether pressing Return would enter nothing that was typed."""
        return not self.data and not self.hidden and not self.is_edited


@dataclass(slots=True)
class _Part:
    """What was typed up to a key that may have ended it."""

    typed: bytearray = field(default_factory=bytearray)
    by: list[ActorId] = field(default_factory=list)
    shapers: dict[ActorId, None] = field(default_factory=dict)
    is_erased: bool = False
    is_lost: bool = False
    """Whether what stands there is a guess."""

    hidden: int = 0
    is_cooked: bool = True
    """Whether the kernel has edited all of it."""

    ender: ActorId | None = None
    """Who pressed the key that may have ended it."""

    @property
    def has_content(self) -> bool:
        return bool(self.typed or self.hidden or self.is_lost or self.is_erased)

    @property
    def hands(self) -> tuple[ActorId, ...]:
        return tuple(dict.fromkeys([*self.by, *self.shapers]))

    def told(self) -> Staged:
        is_edited = self.is_lost or self.is_erased
        is_erased = self.is_erased and not self.is_lost
        return Staged(bytes(self.typed), self.hands, is_edited, self.hidden, is_erased)

    def lose(self, actor: ActorId) -> None:
        self.is_lost = True
        self.shapers[actor] = None

    def erase(self, actor: ActorId, *, utf8: bool) -> None:
        """Take the last character back."""
        while utf8 and self.typed and self.typed[-1] in _CONTINUATION:
            self._drop_last(actor)
        if self.typed:
            self._drop_last(actor)

    def erase_word(self, actor: ActorId) -> None:
        """Take the last word back: letters and digits, and what stands behind."""
        if not self.typed.isascii():
            self.lose(actor)
            return
        has_seen = False
        while self.typed:
            is_word = self.typed[-1:].isalnum() or self.typed[-1:] == b"_"
            if has_seen and not is_word:
                return
            has_seen = is_word
            self._drop_last(actor)

    def _drop_last(self, actor: ActorId) -> None:
        if self.by[-1] != actor:
            self.shapers[actor] = None
        if not self.is_cooked:  # The key may mean another thing to its reader.
            self.shapers[self.by[-1]] = None
        del self.typed[-1], self.by[-1]


class StagedLine:
    """The line that stands at a session's prompt."""

    def __init__(self, *, is_marked: bool = False) -> None:
        self._is_marked = is_marked
        self._runs = is_marked
        """Whether the shell may be running something, by its marks."""

        self._parts: list[_Part] = [_Part()]
        self._hands: set[ActorId] = set()
        """Who may have a hand in what is kept: nobody but these."""

        self.typists: dict[ActorId, None] = {}
        """All operators who have typed since the shell began: a line that was put away
        in it (zsh's push-line) comes back when it likes."""

        self._size = 0
        """Bytes kept of lines that may have been ended: no more than these."""

        self._is_literal = False
        self._is_countless = False
        """Whether there were too many lines to say which of them a mark is about."""

        self.is_fresh = False
        """Whether nothing was typed since the last prompt."""

    # ── what is typed ─────────────────────────────────────────────────────

    def typed(
        self,
        actor: ActorId,
        data: bytes,
        terminal: LineDiscipline = LINE_EDITOR,
        *,
        echo_off: bool,
    ) -> list[Staged]:
        """Take note of bytes that went to the terminal; return what they ended."""
        ended: list[Staged] = []
        self.is_fresh = self.is_fresh and not data
        self._hands.add(actor)
        self.typists[actor] = None
        plain = data.translate(terminal.plain) if len(data) > 1 else NOT_PLAIN
        at = 0
        while at < len(data):
            stop = plain.find(NOT_PLAIN, at)
            stop = len(data) if stop < 0 else stop
            self._settle_mode(actor, terminal)
            if stop > at and not self._is_literal:
                self._add_text(actor, data[at:stop], echo_off=echo_off)
                at = stop
                continue
            byte, at = data[at], at + 1
            meaning = terminal.meanings[byte]
            if self._is_literal:
                self._is_literal, meaning = False, Meaning.TEXT
            elif meaning is Meaning.TEXT and not terminal.edits:
                meaning = _editor_meaning(byte)
            if meaning is Meaning.END or meaning is Meaning.FLUSH:
                ended.append(self._parts[-1].told())
                self._end(actor, is_whole=meaning is Meaning.END)
            elif meaning is Meaning.SIGNAL or meaning is Meaning.QUIET_SIGNAL:
                self._interrupt(actor, meaning)
            else:
                self._take(actor, byte, meaning, terminal, echo_off=echo_off)
        return ended

    def stands(self) -> Staged:
        """Return what is staged now, or may be."""
        parts = [one for one in self._parts if one.has_content]
        found = [one.told() for one in parts]
        if len(found) == 1 and parts[0].ender is None:
            return found[0]
        hands = [actor for one in parts for actor in _hands(one)]
        return Staged(
            b"".join(one.typed + _ending(one) for one in parts),
            tuple(dict.fromkeys(hands)),
            is_edited=bool(parts),
            hidden=sum(one.hidden for one in parts),
        )

    def owners(self) -> tuple[ActorId, ...]:
        """Return who typed each byte that is kept."""
        return tuple(
            actor
            for one in self._parts
            if one.has_content
            for actor in (*one.by, *([one.ender] if one.ender else []))
        )

    # ── what the shell says ───────────────────────────────────────────────

    def prompted(self, *, is_drained: bool = False) -> None:
        """Take note that the shell shows its prompt.

        Drained means: nothing that was typed is left to be read.
        """
        if is_drained:
            self._drain()
        elif not self._runs:
            self._drop_first()
        for one in self._parts:
            one.is_lost = one.has_content
        self._runs, self._is_literal, self.is_fresh = False, False, True

    def began(self, line: str | None) -> None:
        """Take note that the shell executes a line; None: it does not tell which."""
        texts = [_text(one) for one in self._parts if one.ender is not None]
        count = lines_of(texts, line)
        if count:
            del self._parts[:count]
            self._is_countless = False
        elif texts and not self._is_countless:
            self._drop_first()
        else:
            # Some key that we do not know of has ended it.
            self._parts[-1].is_lost = self._parts[-1].has_content
        self._runs, self.is_fresh = True, False

    def ended(self, *, is_drained: bool = False) -> None:
        """Take note that what the shell executed has ended."""
        if is_drained:
            self._drain()

    def told(self, text: bytes, by: Iterable[ActorId]) -> None:
        """Take the shell's own word for what stands on its line now."""
        self._parts, self._is_countless = [_Part()], False
        if text:
            hands = dict.fromkeys(by)
            self._hands |= hands.keys()
            self._parts = [_Part(is_lost=True, shapers=hands, is_cooked=False)]
            owner = next(iter(hands), None)
            if owner is not None:
                self._parts[0].typed += text[:MAX_STAGED]
                self._parts[0].by += [owner] * len(self._parts[0].typed)

    def shaped(self, by: Iterable[ActorId]) -> None:
        """Note that these have a hand in what stands there, whatever that is."""
        hands = dict.fromkeys(by)
        self.typists |= hands
        if hands:
            self._hands |= hands.keys()
            self._parts[-1].is_lost = True
            self._parts[-1].shapers.update(hands)

    # ── inside ────────────────────────────────────────────────────────────

    def _settle_mode(self, actor: ActorId, terminal: LineDiscipline) -> None:
        """Take note of who edits the open line from now on."""
        part = self._parts[-1]
        if part.is_cooked is terminal.edits:
            return
        if part.has_content:
            part.lose(actor)
        part.is_cooked = terminal.edits and not part.has_content

    def _take(
        self,
        actor: ActorId,
        byte: int,
        meaning: Meaning,
        terminal: LineDiscipline,
        *,
        echo_off: bool,
    ) -> None:
        part = self._parts[-1]
        if meaning is Meaning.LITERAL:
            self._is_literal = True
        elif meaning is Meaning.KILL and part.is_cooked:
            self._parts[-1] = _Part()
        elif meaning is Meaning.IGNORED:
            pass
        elif echo_off:
            part.hidden += 1
            part.shapers[actor] = None
        elif meaning is Meaning.ERASE_WORD and part.is_cooked:
            part.erase_word(actor)
        elif meaning is Meaning.ERASE:
            self._erase(actor, utf8=terminal.utf8 or not part.is_cooked)
        else:
            self._add(actor, byte, meaning)

    def _add(self, actor: ActorId, byte: int, meaning: Meaning) -> None:
        if meaning is Meaning.TEXT and byte >= _FIRST_PRINTABLE:
            self._add_text(actor, bytes([byte]), echo_off=False)
        else:
            self._parts[-1].lose(actor)

    def _add_text(self, actor: ActorId, text: bytes, *, echo_off: bool) -> None:
        """Put printable bytes at the end of the open line."""
        part = self._parts[-1]
        if echo_off:
            part.hidden += len(text)
            part.shapers[actor] = None
            return
        kept = text[: max(0, MAX_STAGED - len(part.typed))]
        part.typed += kept
        part.by += [actor] * len(kept)
        if len(kept) < len(text):
            part.lose(actor)

    def _erase(self, actor: ActorId, *, utf8: bool) -> None:
        part = self._parts[-1]
        part.erase(actor, utf8=utf8)
        if not part.is_cooked:
            part.is_erased = True
            part.shapers[actor] = None

    def _end(self, actor: ActorId, *, is_whole: bool) -> None:
        part = self._parts[-1]
        is_known = part.is_cooked and not part.is_lost
        if is_known and (
            not part.has_content or (is_whole and not may_go_on(part.typed))
        ):
            # The kernel has handed it over, and its reader waits for no more of it.
            self._parts[-1] = _Part()
            return
        self._close(actor)

    def _interrupt(self, actor: ActorId, meaning: Meaning) -> None:
        if meaning is Meaning.SIGNAL and self._parts[-1].is_cooked:
            self._parts[-1] = _Part()
        elif self._parts[-1].has_content:
            self._close(actor)
        else:
            self._take_over(actor)

    def _close(self, actor: ActorId) -> None:
        """Begin another line; the open one may have been ended, or not."""
        self._parts[-1].ender = actor
        self._size += len(self._parts[-1].typed)
        self._parts.append(_Part())
        self._take_over(actor)
        if self._size > MAX_STAGED:
            self._size = sum(len(one.typed) for one in self._parts)
        if len(self._parts) > MAX_PARTS or self._size > MAX_STAGED:
            self._merge()

    def _take_over(self, actor: ActorId) -> None:
        """Make the operator who ended a line that others shaped answer for it."""
        if self._is_marked and not self._runs:
            return  # The shell will say what became of it.
        if not self._hands - {actor}:
            return  # Nobody else has typed since we looked.
        if {one for part in self._parts for one in _hands(part)} - {actor}:
            taken = _Part(is_lost=True, ender=actor, shapers={actor: None})
            self._parts = [taken, _Part()]
        self._hands = {actor}

    def _drop_first(self) -> None:
        """Forget the oldest line that was ended, and what stands before it."""
        if len(self._parts) > 1 and not self._is_countless:
            del self._parts[0]

    def _drain(self) -> None:
        """Forget everything but what the kernel keeps of an unfinished line."""
        last = self._parts[-1]
        self._parts = [last if last.is_cooked else _Part()]
        self._is_countless = False

    def _merge(self) -> None:
        """Give up what each line was: they are too many to be told apart."""
        enders = [one.ender for one in self._parts if one.ender is not None]
        typed = [one for part in self._parts for one in _hands(part)]
        hands = dict.fromkeys([*typed, *enders])
        hidden = sum(one.hidden for one in self._parts)
        part = _Part(shapers=hands, is_lost=True, hidden=hidden, is_cooked=False)
        self._parts, self._is_countless = [part], True


def _editor_meaning(byte: int) -> Meaning:
    if byte in _LINE_ENDS:
        return Meaning.END
    if byte == _INTERRUPT:
        return Meaning.QUIET_SIGNAL
    return Meaning.ERASE if byte in _ERASE else Meaning.TEXT


def _hands(part: _Part) -> tuple[ActorId, ...]:
    if not part.has_content:
        return ()
    return (*part.hands, *([part.ender] if part.ender else []))


def _ending(part: _Part) -> bytes:
    return b"" if part.ender is None else b"\r"


def _text(part: _Part) -> str | None:
    if part.is_lost or part.hidden:
        return None
    return part.typed.decode("utf-8", "backslashreplace").strip()
