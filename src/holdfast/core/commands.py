"""Which commands did the shell execute, what came of each, and may one be typed now?

Theory of operation
-------------------
The shell's marks (term.marks) say when it shows its prompt, executes a line and
is done with it; the holder says when a line was entered. Out of that come
commands: a number, the stretch of the stream that a command printed, its exit
status, how long it took and in which folder it left the shell.

    UNMARKED ──▶ PROMPT ──entered──▶ BETWEEN ──began──▶ RUNNING
                   ▲                    │  ▲               │
                   └──────prompted──────┘  └─────ended─────┘

A command that was sent as one input is known by the client that sent it, so that
whoever asks again, after any death, is told what came of it. It is only taken at
the prompt: typed anywhere else it would be read by whatever runs.

Marks can get lost: a holder may be killed while it takes one out of the stream,
and a user may unset the hooks. A command whose end is missing ends, with a status
that is not known, as soon as a later mark shows that it is over. A mark that makes
no sense where it comes changes nothing.

Invariants, checked by tests/core/test_commands.py:

I1  Commands are numbered from 1 without gaps; at most the last one is running.
I2  A command's stretch of the stream never overlaps another's.
I3  Of a client's commands only the first counts as sent by it; a client that is
    known is never taken for a new one while it is remembered.
I4  No more than MAX_KEPT commands and MAX_CLIENTS clients are remembered.
I5  What is rebuilt from the logbook is what was recorded in it.
"""

import base64
import enum
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from holdfast.core.logbook import Entry, EntryKind
from holdfast.model.ids import ClientId
from holdfast.model.inputs import InputKind
from holdfast.model.moments import Moment
from holdfast.term.marks import Began, Ended, Mark, Prompted
from holdfast.wire.lines import Value

MAX_KEPT = 256
"""Commands whose end can be asked for: an afternoon of typing."""

MAX_CLIENTS = 1024
"""Clients remembered as having sent a command: so many later ones keep a key
from being used twice."""

_LINE_ENDS = (b"\r", b"\n", b"\x03", b"\x04")
"""What makes a shell leave its prompt, for a moment at least."""


_UNWRITTEN = ("dropped", "cut")
"""What the logbook calls an input that the shell did not get whole."""


class Phase(enum.StrEnum):
    """Where the shell is, as far as its marks tell."""

    UNMARKED = "unmarked"
    PROMPT = "prompt"
    BETWEEN = "between"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Command:
    """One command; it runs as long as `end` is None.

    Its output is the stream from `start` up to but without `end`. A `status` of
    None, in one that has ended, is not known; nor is an empty `line` or `cwd`.
    """

    number: int
    client: ClientId | None
    line: str
    start: int
    end: int | None = None
    status: int | None = None
    duration_ms: int = 0
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class Entered:
    """The terminal took `data`; `client` if it was sent as a command by it."""

    data: bytes
    client: ClientId | None
    offset: int


@dataclass(frozen=True, slots=True)
class Marked:
    """The shell printed a mark after `offset` bytes of the stream."""

    mark: Mark
    offset: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """A successor has read everything that its predecessor left unread.

    `at_prompt` is what the kernel says: the shell itself reads, key by key.
    """

    at_prompt: bool
    offset: int


@dataclass(frozen=True, slots=True)
class Begin:
    """Record and tell that a command began."""

    command: Command


@dataclass(frozen=True, slots=True)
class Finish:
    """Record and tell that a command ended."""

    command: Command


Event = Entered | Marked | Resumed
Effect = Begin | Finish


@dataclass(frozen=True, slots=True)
class _Sent:
    """A command that was typed, and that the shell has said nothing of."""

    client: ClientId
    line: str
    offset: int
    at: Moment


class Commands:
    """The commands of one session's shell."""

    def __init__(self) -> None:
        self._phase = Phase.UNMARKED
        self._kept: deque[Command] = deque(maxlen=MAX_KEPT)
        self._clients: OrderedDict[ClientId, int | None] = OrderedDict()
        self._sent: _Sent | None = None
        self._began = Moment(0, 0)
        self._is_inherited = False
        self._cwd = ""

    @property
    def phase(self) -> Phase:
        """Where the shell is."""
        return self._phase

    def knows(self, client: ClientId) -> bool:
        """Tell whether a command of this client was typed before."""
        return client in self._clients

    def sent_by(self, client: ClientId) -> Command | None:
        """Return the command that this client sent, if it began and is kept."""
        number = self._clients.get(client)
        return next((one for one in self._kept if one.number == number), None)

    @property
    def last(self) -> Command | None:
        """The command that began last."""
        return self._kept[-1] if self._kept else None

    def handle(self, event: Event, at: Moment) -> list[Effect]:
        """Take what happened; return what is to be recorded and told."""
        match event:
            case Entered():
                self._enter(event, at)
                return []
            case Marked(mark, offset):
                return self._mark(mark, offset, at)
            case Resumed(at_prompt, offset):
                return self._resume(offset, at, at_prompt=at_prompt)

    def take_up(self, entries: Iterable[Entry]) -> None:
        """Find out, after a predecessor's death, which commands there were."""
        self._phase = Phase.BETWEEN
        for entry in entries:
            match entry.kind:
                case EntryKind.INPUT:
                    self._was_entered(entry)
                case EntryKind.SETTLED if entry.fields["as"] in _UNWRITTEN:
                    self._sent = None
                case EntryKind.BEGAN:
                    self._had_begun(entry)
                case EntryKind.FINISHED:
                    self._had_finished(entry)
                case _:
                    pass

    # ── what is entered ───────────────────────────────────────────────────

    def _enter(self, entered: Entered, at: Moment) -> None:
        client = entered.client
        if client is not None:
            self._remember(client, None)
        if self._phase is not Phase.PROMPT:
            return
        if any(end in entered.data for end in _LINE_ENDS):
            self._phase = Phase.BETWEEN
            if client is not None:
                line = entered.data.decode("utf-8", "backslashreplace").strip()
                self._sent = _Sent(client, line, entered.offset, at)

    def _remember(self, client: ClientId, number: int | None) -> None:
        known = self._clients.pop(client, None)
        self._clients[client] = number if known is None else known
        while len(self._clients) > MAX_CLIENTS:
            self._clients.popitem(last=False)

    # ── what the shell says ───────────────────────────────────────────────

    def _mark(self, mark: Mark, offset: int, at: Moment) -> list[Effect]:
        match mark:
            case Prompted():
                effects = self._over(None, offset, at)
                self._phase = Phase.PROMPT
                return effects
            case Began():
                effects = self._finish(None, offset, at)
                return [*effects, self._begin(mark, offset, at)]
            case Ended(status, cwd):
                self._cwd = cwd
                effects = self._over(status, offset, at)
                self._phase = Phase.BETWEEN
                return effects

    def _begin(self, mark: Began, offset: int, at: Moment) -> Begin:
        sent = self._sent
        if sent is None or _is_other(sent, mark):
            # What somebody had typed ahead comes first.
            return self._new(None, mark.line, offset, at)
        self._sent = None
        return self._new(sent.client, mark.line or sent.line, offset, at)

    def _new(
        self,
        client: ClientId | None,
        line: str,
        offset: int,
        at: Moment,
        number: int | None = None,
    ) -> Begin:
        if number is None:
            number = self._kept[-1].number + 1 if self._kept else 1
        command = Command(number, client, line, offset)
        self._kept.append(command)
        if client is not None:
            self._remember(client, number)
        self._phase, self._began = Phase.RUNNING, at
        self._is_inherited = False
        return Begin(command)

    def _over(self, status: int | None, offset: int, at: Moment) -> list[Effect]:
        """End what runs, or what was sent and never began, as nonsense does not."""
        if self._phase is Phase.RUNNING:
            return self._finish(status, offset, at)
        if self._sent is None:
            return []
        sent, self._sent = self._sent, None
        begun = self._new(sent.client, sent.line, sent.offset, sent.at)
        return [begun, *self._finish(status, offset, at)]

    def _finish(self, status: int | None, offset: int, at: Moment) -> list[Effect]:
        if self._phase is not Phase.RUNNING:
            return []
        command = replace(
            self._kept.pop(),
            end=offset,
            status=status,
            duration_ms=self._elapsed_ms(at),
            cwd="" if status is None else self._cwd,
        )
        self._kept.append(command)
        self._phase = Phase.BETWEEN
        return [Finish(command)]

    def _elapsed_ms(self, at: Moment) -> int:
        # The logbook has only the wall clock, which may have been set since.
        began, now = self._began.now, at.now
        if self._is_inherited:
            began, now = self._began.wall, at.wall
        return max(0, round((now - began) * 1000))

    def _resume(self, offset: int, at: Moment, *, at_prompt: bool) -> list[Effect]:
        if not at_prompt or self._sent is not None:
            return []
        effects = self._finish(None, offset, at)
        self._phase = Phase.PROMPT
        return effects

    # ── what the logbook says ─────────────────────────────────────────────

    def _was_entered(self, entry: Entry) -> None:
        if entry.fields["input"] != InputKind.COMMAND:
            return
        client = ClientId(str(entry.fields["client"]))
        self._remember(client, None)
        data = base64.b64decode(str(entry.fields.get("data") or ""))
        line = data.decode("utf-8", "backslashreplace").strip()
        offset = self._kept[-1].end if self._kept else 0
        self._sent = _Sent(client, line, offset or 0, Moment(0, entry.at_wall_ms / 1e3))

    def _had_begun(self, entry: Entry) -> None:
        fields = entry.fields
        client = fields["client"]
        sender = None if client is None else ClientId(str(client))
        if self._sent is not None and self._sent.client == sender:
            self._sent = None
        at = Moment(0, entry.at_wall_ms / 1000)
        offset, number = _number(fields["offset"]), _number(fields["number"])
        self._new(sender, str(fields["line"]), offset, at, number)
        self._is_inherited = True

    def _had_finished(self, entry: Entry) -> None:
        fields = entry.fields
        status = fields["status"]
        if self._kept:
            self._kept[-1] = replace(
                self._kept[-1],
                end=_number(fields["offset"]),
                status=None if status is None else _number(status),
                duration_ms=_number(fields["duration"]),
                cwd=str(fields["cwd"]),
            )
        self._phase = Phase.BETWEEN


def began_fields(command: Command) -> dict[str, Value]:
    """Say in the logbook that a command began."""
    return {
        "number": command.number,
        "client": command.client,
        "offset": command.start,
        "line": command.line,
    }


def finished_fields(command: Command) -> dict[str, Value]:
    """Say in the logbook that a command ended."""
    return {
        "number": command.number,
        "status": command.status,
        "offset": command.end,
        "duration": command.duration_ms,
        "cwd": command.cwd,
    }


def _is_other(sent: _Sent, mark: Began) -> bool:
    # History expansion changes a line; then it cannot be told.
    is_told = mark.is_known and "!" not in sent.line
    return is_told and mark.line.strip() != sent.line


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0
