"""The story of a session: its logbook as readable sentences.

An entry of the logbook becomes a sentence, or none, or joins the one before:
keys that one operator presses in quick succession are one line, with the text
as it was typed. That an input was applied is not worth a line; that it was not,
is. What the terminal did not echo is not in the logbook, and so not in the story.

Everything in an entry may have been chosen by an attacker: it is shown
escaped, and a member that is missing or strange does not stop the story.
"""

import base64
import binascii
import enum
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.cli.arguments import signal_name
from holdfast.cli.session_table import age
from holdfast.cli.story_commands import CommandStory
from holdfast.core.book.entries import MAX_ORIGINATORS
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.model.envelopes import Right
from holdfast.model.text import printable

RUN_GAP_MS = 2000
"""Milliseconds between keys of one line: longer is a pause for thought."""

MAX_TYPED = 200
"""Characters shown of what was typed; a paste can be sixty thousand."""

MAX_WORD = 200
REMEMBERED = 64
"""Inputs whose operator is remembered until their outcome, which comes soon."""

_KEYS = {
    "\x1b[A": "↑",
    "\x1b[B": "↓",
    "\x1b[C": "→",
    "\x1b[D": "←",
    "\r": "⏎",
    "\n": "⏎",
    "\t": "⇥",
    "\x7f": "⌫",
    "\x1b": "⎋",
}
_KEY = re.compile("|".join(map(re.escape, _KEYS)) + "|[\x00-\x1f]|[⏎⇥⌫⎋↑↓←→⌃]")
_EVERYTHING = ",".join(sorted(Right))
_CONTROL = 0x40

Name = Callable[[str], str]
"""Returns how an actor is shown, safe to print."""


class Tone(enum.Enum):
    """How prominent a line is."""

    PLAIN = "plain"
    QUIET = "quiet"
    LOUD = "loud"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the story. Without an actor, it is the session's own."""

    index: int
    at_wall_ms: int
    actor: str
    text: str
    tone: Tone = Tone.PLAIN


class Story:
    """Tells a logbook, entry by entry."""

    def __init__(self, name: Name, undone: Sequence[range] = ()) -> None:
        """Begin one; `undone` are entries of which a roll-back has undone what was."""
        self._name = name
        self._undone = undone
        self._commands = CommandStory(name)
        self._run: list[Entry] = []
        self._actors: dict[int, str] = {}

    def tell(self, entry: Entry) -> list[Line]:
        """Return the lines that are certain now that `entry` has been read."""
        told = self._certain(entry)
        # What people did to the session, and not in it, has been done all the same.
        is_kept = entry.kind in _NEVER_UNDONE
        return [
            line if is_kept and line.index == entry.index else self._marked(line)
            for line in told
        ]

    def _marked(self, line: Line) -> Line:
        if not any(line.index in one for one in self._undone):
            return line
        return replace(line, text=f"{line.text} (undone)", tone=Tone.QUIET)

    def _certain(self, entry: Entry) -> list[Line]:
        if entry.kind is EntryKind.SETTLED and _word(entry, "as") == "applied":
            return []
        if entry.kind is EntryKind.SIGNED:
            return []  # `log --verify` reports it; in the story it means nothing.
        if _is_keys(entry):
            return self._typed(entry)
        return [*self._open(), *self._told(entry)]

    def rest(self) -> list[Line]:
        """Return the line that was still open; nothing more joins it."""
        return [self._marked(line) for line in self._open()]

    def _open(self) -> list[Line]:
        run, self._run = self._run, []
        if not run:
            return []
        first = run[0]
        text = f"typed {shown_keys(b''.join(map(_payload, run)))}"
        if "secret" in first.fields:
            text = "typed something that the terminal did not echo"
        text += self._staged(run[-1]) + self._approval(first)
        return [_line(first, _word(first, "actor"), text)]

    def _typed(self, entry: Entry) -> list[Line]:
        lines = [] if self._joins(entry) else self._open()
        self._remember(entry)
        self._run.append(entry)
        ended = _payload(entry).endswith((b"\r", b"\n"))
        return [*lines, *self._open()] if ended else lines

    def _joins(self, entry: Entry) -> bool:
        if not self._run:
            return False
        last = self._run[-1]
        same = all(
            last.fields.get(name) == entry.fields.get(name)
            for name in ("actor", "approver")
        )
        is_near = 0 <= entry.at_wall_ms - last.at_wall_ms <= RUN_GAP_MS
        return (
            same and is_near and ("secret" in last.fields) == ("secret" in entry.fields)
        )

    def _told(self, entry: Entry) -> list[Line]:
        match entry.kind:
            case EntryKind.INPUT:
                self._remember(entry)
                text = _acted(entry) + self._staged(entry) + self._approval(entry)
                return [_line(entry, _word(entry, "actor"), text)]
            case EntryKind.SETTLED:
                actor = self._actors.get(_number(entry, "of"), "")
                return [_line(entry, actor, _settled(entry), Tone.LOUD)]
            case EntryKind.TURN:
                return [self._turn(entry)]
            case EntryKind.BEGAN | EntryKind.CHANGED:
                return self._ran(entry)
            case _:
                return [self._plain(entry)]

    def _ran(self, entry: Entry) -> list[Line]:
        is_begun = entry.kind is EntryKind.BEGAN
        told = (
            self._commands.began(entry) if is_begun else self._commands.changed(entry)
        )
        if told is None:
            return []
        tone = Tone.PLAIN if told.actor else Tone.QUIET
        return [_line(entry, told.actor, told.text, tone)]

    def _plain(self, entry: Entry) -> Line:
        tone = _TONES.get(entry.kind, Tone.QUIET)
        text = _SENTENCES.get(entry.kind, entry.kind.value)
        if entry.kind is EntryKind.GRANTED and not _word(entry, "by"):
            text = "has {rights} by default"  # Nobody granted it: its kind has that.
        if entry.kind is EntryKind.DETACHED and _word(entry, "by"):
            text = "detached {whom}"
        text = text.format_map(_Facts(entry, self._name))
        if entry.kind is EntryKind.ANSWERED and entry.fields.get("yes") is not True:
            text, tone = text.replace("approved", "denied", 1), Tone.LOUD
        if entry.kind is EntryKind.REFUSED and _word(entry, "input") == "start":
            text += f", so {shown_keys(_payload(entry))} was not started"
        text += _rule(entry) + _times(entry) + _thrown_away(entry)
        by = _word(entry, "by") or _word(entry, "actor")
        return _line(entry, by, text, tone)

    def _turn(self, entry: Entry) -> Line:
        giver, taker = _word(entry, "from"), _word(entry, "to")
        reason = _word(entry, "reason")
        who, text = _TURNS.get(reason, ("to", "moved the turn"))
        other = giver if who == "to" else taker
        text = text.format(other=self._name(other) if other else "nobody")
        tone = Tone.LOUD if reason in ("seized", "revoked") else Tone.PLAIN
        actor = taker if who == "to" else giver
        return _line(entry, actor, text + _thrown_away(entry), tone)

    def _approval(self, entry: Entry) -> str:
        approver = _word(entry, "approver")
        if not approver:
            return ""
        rule = printable(_word(entry, "rule"), MAX_WORD)
        return f"  — approved by {self._name(approver)}, rule {rule}"

    def _staged(self, entry: Entry) -> str:
        names = ", ".join(map(self._name, _originators(entry)))
        return f"  — staged by {names}" if names else ""

    def _remember(self, entry: Entry) -> None:
        self._actors[entry.index] = _word(entry, "actor")
        if len(self._actors) > REMEMBERED:
            del self._actors[next(iter(self._actors))]


def actors_of(entry: Entry) -> Iterator[str]:
    """Yield the actors that an entry names."""
    for name in ("actor", "by", "approver", "from", "to", "trigger"):
        if found := _word(entry, name):
            yield found
    yield from _originators(entry)
    if entry.kind is EntryKind.BEGAN:
        yield from filter(None, _word(entry, "authors").split(","))


def _originators(entry: Entry) -> list[str]:
    found = _word(entry, "originators").split(",")
    return [one for one in found if one][:MAX_ORIGINATORS]


def shown_keys(raw: bytes) -> str:
    """Return typed keys as people read them: keys as symbols, text as text."""
    text = raw.decode("utf-8", "backslashreplace")
    shown = "".join(_pieces(text[:MAX_TYPED]))
    left = len(text) - MAX_TYPED
    return f"{shown}… and {left} more" if left > 0 else shown


def _pieces(text: str) -> Iterator[str]:
    at = 0
    for found in _KEY.finditer(text):
        yield printable(text[at : found.start()], MAX_TYPED)
        yield _key(found[0])
        at = found.end()
    yield printable(text[at:], MAX_TYPED)


def _key(typed: str) -> str:
    if typed in _KEYS:
        return _KEYS[typed]
    if typed < " ":
        return "⌃" + chr(ord(typed) + _CONTROL)
    return f"\\u{ord(typed):04x}"  # Our symbol, typed: not the key.


class _Facts(dict[str, str]):
    """The fields of an entry that a sentence may use; a missing one is '?'."""

    def __init__(self, entry: Entry, name: Name) -> None:
        super().__init__(
            {
                key: printable(str(value), MAX_WORD)
                for key, value in entry.fields.items()
                if value is not None
            }
        )
        self["life"] = str(entry.incarnation)
        self["opened"] = "The session started."
        if why := self.get("no_capsule"):
            self["opened"] = f"The session started, without a capsule: {why}"
        if parent := self.get("parent"):
            self["opened"] = (
                f"started this branch of {parent}, from image {self['image']}"
            )
        self["begun"] = "recovered the session"
        if image := entry.fields.get("image"):
            whose = f" of its branch {self['of']}" if "of" in self else ""
            self["begun"] = f"restored the session from image {image}{whose}"
        if entry.kind is EntryKind.LIMITED:
            who = self.get("program") or "a program"
            is_memory = self.get("limit") == "memory"
            self["limited"] = f"{who} was killed" if is_memory else "it could not fork"
        if entry.kind is EntryKind.ENDING:
            self["signal"] = signal_name(_number(entry, "signal"))
        self["reaped"] = _reaped(entry)
        if self.get("rights") == _EVERYTHING:
            self["rights"] = "all rights"
        if actor := _word(entry, "actor"):
            self["whom"] = name(actor)

    def __missing__(self, key: str) -> str:
        return "?"


_REAPED = {
    "population-cap": ", and there were too many sessions",
    "memory-cap": ", and sessions took too much memory",
}


def _reaped(entry: Entry) -> str:
    """Return why a session was ended that nobody used; empty if it was not for that."""
    if "idle_ms" not in entry.fields:
        return ""
    idle = age(_number(entry, "idle_ms") / 1000)
    return f": idle for {idle}{_REAPED.get(_word(entry, 'why'), '')}"


_NEVER_UNDONE = frozenset(
    {
        *(EntryKind.IMAGED, EntryKind.STOPPED, EntryKind.RESUMED, EntryKind.RECOVERED),
        *(EntryKind.ATTACHED, EntryKind.DETACHED),
        *(EntryKind.GRANTED, EntryKind.REVOKED, EntryKind.DECLINED),
    }
)

_SENTENCES = {
    EntryKind.OPENED: "{opened}",
    EntryKind.ATTACHED: "attached",
    EntryKind.DETACHED: "left",
    EntryKind.REFUSED: "was refused: {code}",
    EntryKind.DECLINED: "was refused {request}: {code}",
    EntryKind.INTENDED: "intends to {act}: {intent}",
    EntryKind.ASKED: "waits for approval of request {ticket}",
    EntryKind.ANSWERED: "approved request {ticket}",
    EntryKind.GRANTED: "granted {whom}: {rights}",
    EntryKind.REVOKED: "revoked all rights of {whom}",
    EntryKind.FENCED: "The lease expired, and the session stopped accepting input",
    EntryKind.UNFENCED: "The lease was granted again, and the session continued",
    EntryKind.FROZEN: "froze the session",
    EntryKind.THAWED: "thawed the session",
    EntryKind.INTERRUPTED: "interrupted the running command",
    EntryKind.UNBOUND: "{command} no longer listens on {address}:{port}",
    EntryKind.LIMITED: "The session reached its limit of {limit}: {limited}",
    EntryKind.RESUMED: "A new holder took over the session.",
    EntryKind.RECOVERED: "{begun} (incarnation {life})",
    EntryKind.IMAGED: "saved the session to disk as image {image}",
    EntryKind.FORKED: "made a branch of the session, from image {image}",
    EntryKind.STOPPED: "saved the session to disk as image {image},"
    " and ended it{reaped}",
    EntryKind.EXEC: "execution of {text} was {as}",
    EntryKind.FINISHED: "Command {number} exited with status {status}",
    EntryKind.ENDING: "ended the session with {signal}{reaped}",
    EntryKind.SWEPT: "ended {count} that had left the shell, left {left}: {names}",
    EntryKind.EXITED: "The program exited: {how}",
}

_TONES = {
    EntryKind.REFUSED: Tone.LOUD,
    EntryKind.DECLINED: Tone.LOUD,
    EntryKind.ASKED: Tone.PLAIN,
    EntryKind.ANSWERED: Tone.PLAIN,
    EntryKind.GRANTED: Tone.PLAIN,
    EntryKind.REVOKED: Tone.LOUD,
    EntryKind.FENCED: Tone.LOUD,
    EntryKind.UNFENCED: Tone.LOUD,
    EntryKind.FROZEN: Tone.LOUD,
    EntryKind.THAWED: Tone.PLAIN,
    EntryKind.INTERRUPTED: Tone.LOUD,
    EntryKind.UNBOUND: Tone.LOUD,
    EntryKind.LIMITED: Tone.LOUD,
    EntryKind.EXEC: Tone.LOUD,
    EntryKind.EXITED: Tone.PLAIN,
}

_TURNS = {
    "taken": ("to", "took the turn"),
    "given": ("from", "gave the turn to {other}"),
    "answered": ("from", "gave the turn to {other}, who had asked"),
    "defaulted": ("to", "got the turn: {other} did not answer"),
    "dropped": ("from", "released the turn"),
    "seized": ("to", "seized the turn from {other}"),
    "expired": ("from", "lost the turn: its time ran out"),
    "abandoned": ("from", "lost the turn: away too long"),
    "revoked": ("from", "lost the turn: its rights were revoked"),
}
"""By reason: who the line is about, and what it says."""


def _line(entry: Entry, actor: str, text: str, tone: Tone = Tone.PLAIN) -> Line:
    return Line(entry.index, entry.at_wall_ms, actor, text, tone)


def _is_keys(entry: Entry) -> bool:
    return entry.kind is EntryKind.INPUT and _word(entry, "input") == "keys"


def _acted(entry: Entry) -> str:
    payload = _payload(entry)
    match _word(entry, "input"):
        case kind if "secret" in entry.fields:
            return _UNSEEN.get(kind, "sent input that is not in the logbook")
        case "command":
            return f"ran {shown_keys(payload)}"
        case "start":
            return f"started the session with {shown_keys(_brief(payload))}"
        case "signal" if payload.isdigit():
            return f"sent {signal_name(int(payload[:4]))}"
        case "resize":
            return f"resized the terminal to {shown_keys(payload)}"
        case other:
            return f"sent input of kind {printable(other, MAX_WORD)}"


def _brief(line: bytes) -> bytes:
    """Shorten the values of variables, so that the command after them is seen."""
    return _LONG_VALUE.sub(b"\\1" + "…".encode(), line)


_LONG_VALUE = re.compile(rb"(\b[A-Za-z_]\w*=\S{24})\S{8,}")
"""As in `PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin`."""


_UNSEEN = {
    "answer": "typed a secret",
    "command": "ran something that the terminal did not echo",
    "resize": "resized the terminal",
    "signal": "sent a signal",
}


def _settled(entry: Entry) -> str:
    of = _number(entry, "of")
    match _word(entry, "as"):
        case "cut":
            written = _number(entry, "written")
            return f"only {written} bytes of the input at {of} were written"
        case "dropped":
            return f"nothing of the input at {of} was written"
        case _:
            return f"whether the input at {of} was written is not known"


def _rule(entry: Entry) -> str:
    rule = _word(entry, "rule")
    return f" (rule {printable(rule, MAX_WORD)})" if rule else ""


def _times(entry: Entry) -> str:
    count = _number(entry, "count")
    return f", {count} times" if count > 1 else ""


def _thrown_away(entry: Entry) -> str:
    inputs, size = _number(entry, "dropped_inputs"), _number(entry, "dropped_bytes")
    if not inputs:
        return ""
    what = "input" if inputs == 1 else "inputs"
    return f"; {inputs} {what} of {size} bytes discarded"


def _payload(entry: Entry) -> bytes:
    try:
        return base64.b64decode(_word(entry, "data"))
    except (binascii.Error, ValueError):
        return b""


def _word(entry: Entry, name: str) -> str:
    value = entry.fields.get(name)
    return value if isinstance(value, str) else ""


def _number(entry: Entry, name: str) -> int:
    value = entry.fields.get(name)
    return value if isinstance(value, int) else 0
