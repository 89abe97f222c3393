"""The commands that the shell executed, and whether one may be typed now.

Theory of operation
-------------------
The shell's marks (term.marks) say when it shows its prompt, executes a line and
is done with it; the holder says when a line was entered. Out of that come
commands: a number, the stretch of the stream that a command printed, its exit
status, how long it took and in which folder it left the shell. Who made the shell
execute it, and who typed its line, is told by core.provenance.entered_lines.

    UNMARKED ──▶ PROMPT ──entered──▶ BETWEEN ──began──▶ RUNNING
                   ▲                    │  ▲               │
                   └──────prompted──────┘  └─────ended─────┘

A command that was sent as one input is known by the client that sent it, so that
a repeat, after any crash, gets its outcome. It is only accepted at
the prompt: typed anywhere else it would be read by whatever runs. What others
than its trigger type while a command runs may decide what it does, as in a nested
shell or an editor: they are its *hands*, and are told with it.

A command may have done what it did from when its line was entered on, not only
from when its mark was read, and up to when the mark of its end was read: marks wait
while nobody reads them. So the spans of two commands overlap where the second was
typed ahead, and whatever happened there may be the doing of either.

Marks can get lost: a holder may be killed while it takes one out of the stream,
and a user may unset the hooks. A command whose end is missing ends, with a status
that is not known, as soon as a later mark shows that it is over. A mark that makes
no sense where it comes changes nothing.

Invariants, checked by tests/core/provenance/test_commands.py:

I1  Commands are numbered from 1 without gaps; at most the last one is running.
I2  A command's stretch of the stream never overlaps another's.
I3  Of a client's commands only the first counts as sent by it; a client that is
    known is never taken for a new one while it is remembered.
I4  No more than MAX_KEPT commands and MAX_CLIENTS clients are remembered.
I5  What is rebuilt from the logbook is what was recorded in it.
I6  An operator who typed while a command ran, other than its trigger, is an author.
"""

import base64
import enum
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.provenance.entered_lines import (
    MAX_AUTHORS,
    EnteredLines,
    Instant,
    Press,
    distinct,
)
from holdfast.core.provenance.staged import Staged, StagedLine
from holdfast.model.ids import ActorId, ClientId
from holdfast.model.inputs import InputKind
from holdfast.model.moments import Moment
from holdfast.term.marks import Began, Buffer, Ended, Mark, Prompted, Standing
from holdfast.wire.lines import Value, number_from

MAX_KEPT = 256
"""Commands whose end can be asked for: an afternoon of typing."""

MAX_CLIENTS = 1024
"""Clients remembered as having sent a command: so many later ones keep a key
from being used twice."""

_LINE_ENDS = (b"\r", b"\n", b"\x03", b"\x04")
"""What makes a shell leave its prompt, for a moment at least."""


_UNWRITTEN = ("dropped", "cut")
"""What the logbook calls an input that the shell did not get whole."""

REPLAYED = 4096
"""Entries whose bytes are looked at again after a death: what was entered before
them has become a command, or never will."""

NEVER = Instant(0, 0)
"""Before everything: when it is not known since when something ran."""

_TYPED = frozenset({InputKind.KEYS, InputKind.COMMAND, InputKind.ANSWER})


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
    Nor is who pressed Return, if there is no `trigger`.
    """

    number: int
    client: ClientId | None
    line: str
    start: int
    end: int | None = None
    status: int | None = None
    duration_ms: int = 0
    cwd: str = ""
    trigger: ActorId | None = None
    authors: tuple[ActorId, ...] = ()
    """Who typed its line, in order; who only pressed Return is not among them."""

    since: Instant = NEVER
    """When its line was entered: it did nothing before."""

    until: Instant | None = None
    """When its end was seen: it did nothing after, unless in the background."""

    hands: tuple[ActorId, ...] = ()
    """Who else typed while it ran."""

    shared_ms: int = 0
    """Since when one of them did, in milliseconds since the machine's start."""


@dataclass(frozen=True, slots=True)
class Entered:
    """The terminal took `data`; `client` if it was sent as a command by it.

    `lines` are those that the data has ended, each with who typed it.
    """

    data: bytes
    client: ClientId | None
    offset: int
    actor: ActorId
    lines: tuple[Staged, ...] = ()


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
    is_inherited: bool = False
    """It is known from the logbook."""


class Kept(NamedTuple):
    """The last commands, and who sent one, as it is written down."""

    commands: tuple[Command, ...]
    clients: tuple[tuple[ClientId, int | None], ...]


class _Head(NamedTuple):
    """What is known of a command when it begins."""

    client: ClientId | None
    line: str
    offset: int


class Commands:
    """The commands of one session's shell."""

    def __init__(self) -> None:
        self.phase = Phase.UNMARKED
        """Where the shell is."""

        self._kept: deque[Command] = deque(maxlen=MAX_KEPT)
        self._clients: OrderedDict[ClientId, int | None] = OrderedDict()
        self._sent: _Sent | None = None
        self._lines = EnteredLines()
        self._began = Moment(0, 0)
        self._is_inherited = False
        self._cwd = ""

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

    @property
    def kept(self) -> tuple[Command, ...]:
        """The last commands, oldest first."""
        return tuple(self._kept)

    def load(self, kept: "Kept") -> None:
        """Take up what was written down of the commands before some entry."""
        self._kept.extend(kept.commands)
        self._clients.update(kept.clients)

    def take_up(  # noqa: C901  # one case for each kind
        self, entries: Iterable[Entry], known: int = -1
    ) -> None:
        """Find out, after a predecessor's death, which commands there were.

        Those of the entries up to `known` were loaded; what was typed was not.
        """
        self.phase = Phase.BETWEEN
        found, staged = [*entries], StagedLine()
        recent = len(found) - REPLAYED
        if (last := self.last) and not any(_is_of(last, one) for one in found):
            self._go_on(last, Moment(0, last.since.wall_ms / 1000))
        for place, entry in enumerate(found):
            match entry.kind:
                case EntryKind.INPUT if entry.fields["input"] in _TYPED:
                    self._was_entered(entry)
                    if place >= recent:
                        self._was_typed(entry, staged)
                case EntryKind.SETTLED if entry.fields["as"] in _UNWRITTEN:
                    self._sent = None
                    self._lines.forget()
                case EntryKind.BEGAN:
                    self._had_begun(entry, is_known=entry.index <= known)
                case EntryKind.FINISHED:
                    self._had_finished(entry, is_known=entry.index <= known)
                case EntryKind.RECOVERED:
                    staged = StagedLine()
                    self._had_recovered(entry, is_known=entry.index <= known)
                case _:
                    pass

    def begin_life(self, offset: int) -> None:
        """Note that the shell is another one, whose output begins at `offset`.

        Only the number of the last command lives on: what it printed, and what was
        entered, belong to a life that is over.
        """
        kept = [in_next_life(one, offset) for one in [*self._kept][-1:]]
        self._kept.clear()
        self._kept.extend(kept)
        self._lose_shell()

    def _had_recovered(self, entry: Entry, *, is_known: bool) -> None:
        if is_moved(entry):
            return
        if is_known:
            self._lose_shell()
        else:
            self.begin_life(offset_of(entry))

    def _lose_shell(self) -> None:
        self._sent, self._lines = None, EnteredLines()
        self._is_inherited, self._cwd = False, ""
        self.phase = Phase.UNMARKED

    # ── what is entered ───────────────────────────────────────────────────

    def _enter(self, entered: Entered, at: Moment) -> None:
        client = entered.client
        if client is not None:
            self._remember(client, None)
        if self.phase is Phase.RUNNING:
            self._feed(entered.actor, instant(at))
        if entered.lines:
            self._lines.entered(entered.actor, entered.lines, instant(at), at.now)
        if self.phase is not Phase.PROMPT:
            return
        if any(end in entered.data for end in _LINE_ENDS):
            self.phase = Phase.BETWEEN
            if client is not None:
                line = entered.data.decode("utf-8", "backslashreplace").strip()
                self._sent = _Sent(client, line, entered.offset, at)

    def _feed(self, actor: ActorId, at: Instant) -> None:
        """Take note of whose keys whatever runs may read."""
        last = self._kept[-1]
        is_new = actor != last.trigger and actor not in last.hands
        if is_new and len(last.hands) < MAX_AUTHORS:
            hands, shared_ms = (*last.hands, actor), last.shared_ms or at.up_ms
            self._kept[-1] = replace(last, hands=hands, shared_ms=shared_ms)

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
                self.phase = Phase.PROMPT
                self._lines.prompted(at.now)
                return effects
            case Standing() | Buffer():
                return []
            case Began():
                effects = self._finish(None, offset, at)
                return [*effects, self._begin(mark, offset, at)]
            case Ended(status, cwd):
                self._cwd = cwd
                effects = self._over(status, offset, at)
                self.phase = Phase.BETWEEN
                return effects

    def _begin(self, mark: Began, offset: int, at: Moment) -> Begin:
        sent = self._sent
        press = self._lines.began(mark.line if mark.is_known else None)
        if sent is None or _is_other(sent, mark):
            # Typed-ahead input comes first.
            return self._new(_Head(None, mark.line, offset), press, at)
        self._sent = None
        line = mark.line or sent.line
        return self._new(_Head(sent.client, line, offset), press, at)

    def _new(self, head: _Head, press: Press, at: Moment) -> Begin:
        last = self._kept[-1] if self._kept else None
        since = press.since
        if since is None:
            # It may have been typed ahead of whatever ran last.
            since = NEVER if last is None else last.since
        hands = self._hands(press.trigger)
        command = Command(
            1 if last is None else last.number + 1,
            head.client,
            head.line,
            head.offset,
            trigger=press.trigger,
            authors=press.authors,
            since=since,
            hands=hands,
            shared_ms=since.up_ms if hands else 0,
        )
        self._keep(command, at)
        return Begin(command)

    def _hands(self, trigger: ActorId | None) -> tuple[ActorId, ...]:
        """Return who else has entered what a command that begins now may read."""
        waiting = self._lines.waiting()
        return tuple(actor for actor in waiting if actor != trigger)

    def _keep(self, command: Command, at: Moment) -> None:
        self._kept.append(command)
        if command.client is not None:
            self._remember(command.client, command.number)
        self.phase, self._began = Phase.RUNNING, at
        self._is_inherited = False

    def _over(self, status: int | None, offset: int, at: Moment) -> list[Effect]:
        """End what runs, or what was sent and never began, as nonsense does not."""
        if self.phase is Phase.RUNNING:
            return self._finish(status, offset, at)
        if self._sent is None:
            return []
        sent, self._sent = self._sent, None
        press = self._lines.began(sent.line)
        head = _Head(sent.client, sent.line, sent.offset)
        begun = self._new(head, press, sent.at)
        self._is_inherited = sent.is_inherited
        return [begun, *self._finish(status, offset, at)]

    def _finish(self, status: int | None, offset: int, at: Moment) -> list[Effect]:
        if self.phase is not Phase.RUNNING:
            return []
        command = replace(
            self._kept.pop(),
            end=offset,
            status=status,
            duration_ms=self._elapsed_ms(at),
            cwd="" if status is None else self._cwd,
            until=instant(at),
        )
        self._kept.append(command)
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
        self.phase = Phase.PROMPT
        self._lines.prompted(at.now)
        return effects

    # ── what the logbook says ─────────────────────────────────────────────

    def _was_entered(self, entry: Entry) -> None:
        if entry.fields["input"] != InputKind.COMMAND:
            return
        client = entry.client
        self._remember(client, None)
        data = base64.b64decode(str(entry.fields.get("data") or ""))
        line = data.decode("utf-8", "backslashreplace").strip()
        offset = self._kept[-1].end if self._kept else 0
        at = Moment(0, entry.at_wall_ms / 1000)
        self._sent = _Sent(client, line, offset or 0, at, is_inherited=True)

    def _was_typed(self, entry: Entry, staged: StagedLine) -> None:
        actor = entry.actor
        data, size = entry.fields.get("data"), number_from(entry.fields["size"])
        is_known = isinstance(data, str)
        raw = base64.b64decode(str(data)) if is_known else b"?" * size
        lines = staged.typed(actor, raw, echo_off=not is_known)
        # The book has the wall clock only; it was not before what ran last.
        up_ms = self._kept[-1].since.up_ms if self._kept else 0
        at = Instant(entry.at_wall_ms, up_ms)
        if self.phase is Phase.RUNNING:
            self._feed(actor, at)
        self._lines.entered(actor, lines, at, entry.at_wall_ms / 1000)

    def _go_on(self, command: Command, at: Moment) -> None:
        """Take note that a command that is known began then, and may still run."""
        last = self.last
        is_on = last is not None and last.number == command.number and not last.until
        self.phase = Phase.RUNNING if is_on else Phase.BETWEEN
        self._began, self._is_inherited = at, True

    def _had_begun(self, entry: Entry, *, is_known: bool) -> None:
        command = read_began(entry.fields)
        if self._sent is not None and self._sent.client == command.client:
            self._sent = None
        self._lines.began(command.line or None)
        if is_known:
            self._go_on(command, Moment(0, entry.at_wall_ms / 1000))
            return
        hands = self._hands(command.trigger)
        shared_ms = command.since.up_ms if hands else 0
        command = replace(command, hands=hands, shared_ms=shared_ms)
        self._keep(command, Moment(0, entry.at_wall_ms / 1000))
        self._is_inherited = True

    def _had_finished(self, entry: Entry, *, is_known: bool) -> None:
        if self._kept and not is_known:
            self._kept[-1] = read_finished(self._kept[-1], entry.fields)
        self._lines.prompted(entry.at_wall_ms / 1000)
        self.phase = Phase.BETWEEN


def is_moved(entry: Entry) -> bool:
    """Tell whether a life goes on from where a move stopped it: what ran still runs."""
    return bool(entry.fields.get("origin"))


def began_fields(command: Command) -> dict[str, Value]:
    """Say in the logbook that a command began."""
    return {
        "number": command.number,
        "client": command.client,
        "offset": command.start,
        "line": command.line,
        "trigger": command.trigger,
        "authors": ",".join(command.authors),
        "since": command.since.wall_ms,
        "up": command.since.up_ms,
    }


def read_began(fields: Mapping[str, Value]) -> Command:
    """Return the command that `began_fields` wrote down, as far as it goes."""
    client, trigger = fields["client"], fields.get("trigger")
    return Command(
        number_from(fields["number"]),
        None if client is None else ClientId(str(client)),
        str(fields["line"]),
        number_from(fields["offset"]),
        trigger=None if trigger is None else ActorId(str(trigger)),
        authors=_actors(fields.get("authors")),
        since=Instant(number_from(fields.get("since")), number_from(fields.get("up"))),
    )


def finished_fields(command: Command) -> dict[str, Value]:
    """Say in the logbook that a command ended."""
    until = command.until or NEVER
    return {
        "number": command.number,
        "status": command.status,
        "offset": command.end,
        "duration": command.duration_ms,
        "cwd": command.cwd,
        "until": until.wall_ms,
        "up": until.up_ms,
        "hands": ",".join(command.hands),
        "shared": command.shared_ms,
    }


def read_finished(command: Command, fields: Mapping[str, Value]) -> Command:
    """Return how a command ended, as `finished_fields` wrote it down."""
    status = fields["status"]
    return replace(
        command,
        end=number_from(fields["offset"]),
        status=None if status is None else number_from(status),
        duration_ms=number_from(fields["duration"]),
        cwd=str(fields["cwd"]),
        until=Instant(number_from(fields.get("until")), number_from(fields.get("up"))),
        hands=_actors(fields.get("hands")),
        shared_ms=number_from(fields.get("shared")),
    )


def instant(at: Moment) -> Instant:
    """Return a moment as it is kept: in whole milliseconds."""
    return Instant(round(at.wall * 1000), round(at.now * 1000))


def _is_of(command: Command, entry: Entry) -> bool:
    is_began = entry.kind is EntryKind.BEGAN
    return is_began and entry.fields["number"] == command.number


def _is_other(sent: _Sent, mark: Began) -> bool:
    # History expansion changes a line; then it cannot be told.
    is_told = mark.is_known and "!" not in sent.line
    return is_told and mark.line.strip() != sent.line


def _actors(value: Value) -> tuple[ActorId, ...]:
    words = str(value or "").split(",")
    return distinct(ActorId(word) for word in words if word)


def in_next_life(last: Command, offset: int) -> Command:
    """Return the last command of a life that is over, as the next one knows it."""
    return replace(last, start=offset, end=offset)


def offset_of(recovered: Entry) -> int:
    """Return where in the stream a `recovered` entry says that a life begins."""
    return recovered.number("offset") if "offset" in recovered.fields else 0
