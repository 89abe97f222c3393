"""The sessions of an overview: what is known about each, and which need attention.

A session is known twice: by what its keeper lists (`Listed`), and by what its holder
said when it was looked at (`Look`), if it was. Both come from other processes, perhaps
of other hosts, and hold what programs wrote: every text here is made safe to print.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.model.lost_record import LostRecord
from holdfast.model.text import printable, shown_name
from holdfast.term.canvas import Style

MAX_ID = 32
MAX_COMMAND = 200
MAX_WORD = 64
MAX_ATTENTION = 120

NEEDS = ("approval", "secret", "attention", "input", "turn", "frozen", "", "over")
"""Why a session may need attention, most urgent first."""

URGENT = NEEDS[:5]
"""Those that hold up an operator or a program."""

_TOLD = {
    "approval": "waits for approval",
    "secret": "asks for a secret",
    "input": "waits for input",
    "turn": "the turn is asked for",
}
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))

Key = tuple[str, str]
"""The host, empty if it is here, and the session's id."""

Span = tuple[str, Style]
"""Text that looks the same."""


class Preview(NamedTuple):
    """What a session showed: its rows from the top, each of spans."""

    columns: int
    rows: tuple[tuple[Span, ...], ...]
    cursor_row: int = 0


class Waiting(NamedTuple):
    """Something that waits for approval, as an approver has to see it."""

    ticket: int
    digest: bytes
    lines: tuple[str, ...]
    hindrance: str = ""
    """Why we cannot approve it; empty if we can."""

    may_deny: bool = True


class Look(NamedTuple):
    """What was found out when a session was looked at."""

    state: str = ""
    is_sure: bool = True
    turn: str = ""
    """Who has the turn; empty if it is free."""

    is_ours: bool = False
    here: tuple[str, ...] = ()
    attached: int = 0
    pending: tuple[Waiting, ...] = ()
    pending_count: int = 0
    waiting: int = 0
    is_frozen: bool = False
    picture: Preview | None = None
    error: str = ""
    """Why it could not be looked at; what was found out before stands beside it."""


class Row(NamedTuple):
    """One session, as far as it is known."""

    host: str
    id: str
    name: str
    state: str = ""
    exit: int | None = None
    command: str = ""
    created_ms: int = 0
    size: tuple[int, int] = (0, 0)
    is_kept: bool = False
    is_dozing: bool = False
    attention: str = ""
    doing: str = ""
    """What it does, as its keeper was told; what a look has found out is newer."""

    turn_of: str = ""
    attached: tuple[str, ...] = ()
    look: Look | None = None
    is_reconstructed: bool = False
    """Whether it was lost, and begun again from what was kept."""

    gone: str = ""
    """`lost` or `on disk`, if no process has it."""

    image: int = 0
    """In which of its images it is, if it is on disk."""

    saved: int = 0
    """Its newest image, if it was lost and has one."""

    hindrance: str = ""
    """Why a lost session cannot be started again; empty if it can."""

    @property
    def key(self) -> Key:
        """What it is known by, whatever it is called."""
        return self.host, self.id

    @property
    def label(self) -> str:
        """What people call it: an address, if it is elsewhere."""
        return f"{self.host}/{self.name}" if self.host else self.name

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or no process has it."""
        return self.exit is not None or bool(self.gone)

    @property
    def pending(self) -> tuple[Waiting, ...]:
        """What waits for approval, as far as it was seen."""
        return self.look.pending if self.look is not None else ()

    @property
    def need(self) -> str:
        """Why it needs attention, a word of NEEDS."""
        look, state = self.look or Look(), self.word
        needs = {
            "over": self.is_over,
            "approval": bool(look.pending_count) or state == "starting",
            "secret": state == "waiting-for-secret",
            "attention": bool(self.attention),
            "input": state == "waiting-for-input" and look.is_sure,
            "turn": bool(look.waiting),
            "frozen": self.is_frozen,
        }
        return next((need for need, is_so in needs.items() if is_so), "")

    @property
    def is_frozen(self) -> bool:
        """Whether it stands still."""
        return self.word in ("frozen", "fenced") or (self.look or Look()).is_frozen

    @property
    def word(self) -> str:
        """What it does, as far as that is known."""
        look = self.look or Look()
        # What a session that dozes does, its holder has left word of.
        known = "" if self.is_dozing else look.state
        lasting = "" if self.state == "running" else self.state
        return known or lasting or self.doing or self.state

    @property
    def turn(self) -> str:
        """Who has the turn; empty if it is free."""
        return self.turn_of if self.look is None else self.look.turn

    @property
    def crowd(self) -> int:
        """How many operators are attached."""
        return len({*self.attached}) if self.look is None else self.look.attached

    @property
    def told_state(self) -> str:
        """What it does, in the words of `holdfast state`."""
        if self.gone:
            return self.gone
        if self.exit is not None:
            return f"exited {self.exit}" if self.exit >= 0 else f"killed {-self.exit}"
        if self.is_dozing:
            return "dozing"
        if self.is_frozen:
            return "frozen"
        doubt = "" if self.look is None or self.look.is_sure else "?"
        return (self.word or "running") + doubt

    @property
    def told_way_back(self) -> str:
        """Which keys begin a session again that no process has."""
        if self.image:
            return "Enter restores it"
        again = "" if self.hindrance else "Enter starts it again"
        saved = "i restores its newest image" if self.saved else ""
        return ", ".join(filter(None, (again, saved)))

    @property
    def told_need(self) -> str:
        """Why it needs attention, in a few words; empty if it does not."""
        look = self.look or Look()
        if self.need == "attention":
            return self.attention
        if self.need == "approval" and look.pending_count > 1:
            return f"{look.pending_count} wait for approval"
        return _TOLD.get(self.need, "")


def row_from(facts: object, host: str = "") -> Row | None:
    """Return a session from what its keeper lists; None if that is no session."""
    match facts:
        case {"id": str(session), **rest}:
            shown = printable(session, MAX_ID)
        case _:
            return None
    name = _text(rest.get("name"))
    return Row(
        host,
        session,
        shown_name(name) if name else shown,
        printable(_text(rest.get("state")), MAX_ID),
        _number(rest["exit"]) if rest.get("exit") is not None else None,
        _command(rest.get("command")),
        _number(rest.get("created_ms")),
        _size(rest.get("size")),
        rest.get("keep") is True,
        rest.get("dozing") is True,
        _attention(rest.get("attention")),
        printable(_text(rest.get("doing")), MAX_WORD),
        shown_name(_text(rest.get("turn_of"))),
        _names(rest.get("attached")),
        is_reconstructed=_number(rest.get("recovered_ms")) > 0,
    )


def row_of_lost(one: LostRecord) -> Row:
    """Return a session that no process has."""
    return Row(
        one.host,
        one.id,
        shown_name(one.name) if one.name else printable(one.id, MAX_ID),
        command=one.line,
        created_ms=one.seen_ms,
        gone="on disk" if one.image else "lost",
        image=one.image,
        saved=one.saved,
        hindrance="" if one.image else printable(one.why, MAX_ATTENTION),
    )


def look_from(facts: Mapping[str, object]) -> Look:
    """Return what a host elsewhere has found out about a session of its own."""
    match facts.get("turn"):
        case {"name": str(name), "actor": str(actor)}:
            turn = shown_name(name) if name else printable(actor, 8)
        case _:
            turn = ""
    word = printable(_text(facts.get("state")), MAX_ID)
    program = printable(_text(facts.get("program")), MAX_ID)
    here = facts.get("here")
    names = [_named(one) for one in here] if isinstance(here, list) else []
    last = printable(_text(facts.get("last_line")), MAX_COMMAND)
    return Look(
        state=f"{word} in {program}" if program else word,
        turn=turn,
        here=tuple(names),
        attached=_number(facts.get("count")),
        pending_count=_number(facts.get("pending")),
        waiting=_number(facts.get("waiting")),
        is_frozen=facts.get("frozen") is True,
        picture=Preview(len(last), (((last, Style()),),)) if last else None,
    )


def refreshed(row: Row, look: Look | None) -> Look | None:
    """Return an earlier look, with what its keeper was told since."""
    if look is None or not row.doing:
        return look
    if row.doing != look.state:
        look = look._replace(state=row.doing, is_sure=True)
    if row.turn_of != look.turn:
        look = look._replace(turn=row.turn_of, is_ours=False)
    return look._replace(attached=len({*row.attached}))


def ordered(rows: Iterable[Row]) -> list[Row]:
    """Return sessions, those that need attention first, then the newest."""
    return sorted(
        rows, key=lambda row: (NEEDS.index(row.need), -row.created_ms, row.key)
    )


def walled(rows: list[Row]) -> list[Row]:
    """Return sessions for the wall: tiles keep their places while nothing happens.

    Those that need attention come first, then those that are awake; the ended are left
    out.
    """
    return sorted(
        (row for row in rows if not row.is_over),
        key=lambda row: (
            row.need not in URGENT,
            row.is_dozing,
            row.created_ms,
            row.key,
        ),
    )


def fits(row: Row, wanted: str) -> bool:
    """Tell whether a session is one that was looked for: all words are in it."""
    told = f"{row.label} {row.told_state} {row.command} {row.told_need}".lower()
    return all(word in told for word in wanted.lower().split())


def age(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return "now"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _named(one: object) -> str:
    match one:
        case {"name": str(name)} if name:
            return shown_name(name)
        case _:
            return "unknown"


def _names(told: object) -> tuple[str, ...]:
    names = told if isinstance(told, list) else []
    return tuple(shown_name(one) for one in names if isinstance(one, str))


def _command(words: object) -> str:
    if not isinstance(words, list):
        return ""
    return printable(" ".join(map(str, words)), MAX_COMMAND)


def _size(told: object) -> tuple[int, int]:
    match told:
        case [int(columns), int(rows)]:
            return columns, rows
        case _:
            return 0, 0


def _attention(told: object) -> str:
    match told:
        case {"what": str(what), **rest} if what:
            said = _text(rest.get("text"))
            return printable(said or f"calls: {what}", MAX_ATTENTION)
        case _:
            return ""
