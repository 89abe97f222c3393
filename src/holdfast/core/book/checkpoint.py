"""A summary of the entries that a successor does not read.

Theory of operation
-------------------
Everything that outlives a holder is in the logbook, and a logbook only grows. So
from time to time what its entries add up to is written down in a file beside it,
and an entry of the book, a *checkpoint*, has the digest of that file. A successor
reads the file, and of the book only the entries since, and the last
few before (what was typed is looked at again).

A file that is torn, lost, or other than the entry says counts for nothing; there is
one more, from the checkpoint before; and without either the book is read whole.

It is made from entries, so that it cannot say more than the book does, and anyone
can make it again. What the holder knows better is narrowed by it: who has typed into
the command that runs, and who has a hand in the unsubmitted input. From entries alone
that is every operator who has typed.

Invariants, checked by tests/core/book/test_checkpoint.py:

I1  Reading a book from its beginning, or from any checkpoint, is the same.
I2  What is written down reads as itself; anything else is refused.
I3  What is kept is bounded, however long the book is.
"""

import hashlib
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar

import msgspec

from holdfast.core.book.book_state import Standing
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input import forgotten
from holdfast.core.input.serializer import PastInput
from holdfast.core.input.statements import MAX_SIGNERS
from holdfast.core.provenance import commands, originators
from holdfast.model.envelopes import Envelope
from holdfast.model.errors import MalformedMessage
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, Index, SessionId
from holdfast.model.inputs import TYPED, InputId, InputKind
from holdfast.model.outcomes import Cut, outcome_from

VERSION: Final = 1
"""Raised when what is written down changes; another version counts for nothing."""

Key = TypeVar("Key")
Kept = TypeVar("Kept")

MAX_HANDS: Final = 256
"""Operators of whom it is known when they had the turn last."""


class Hands(NamedTuple):
    """Which command was the last, and which was when each operator had the turn."""

    command: int
    had: tuple[tuple[ActorId, int], ...]


class Last(NamedTuple):
    """The last input of a client, and what became of it."""

    at: int
    """Where it stands in the book."""

    actor: ActorId
    client: ClientId
    sequence: int
    digest: bytes | None
    epoch: Epoch
    outcome: str
    written: int


class Told(NamedTuple):
    """The state of a session, in the form that is written to a file."""

    life: Incarnation
    epoch: Epoch
    holder: ActorId | None
    frozen: bool
    over: str | None
    open: Index | None
    open_life: Incarnation
    envelopes: tuple[tuple[ActorId, Envelope], ...]
    last: tuple[Last, ...]
    forgotten: forgotten.Kept


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """All that a successor needs of the entries up to `through`."""

    version: int
    session: SessionId
    through: int
    standing: Told
    hands: Hands
    signed: tuple[tuple[ActorId, ClientId, int], ...]
    commands: commands.Kept
    origins: originators.Kept
    line: tuple[ActorId, ...] = ()
    """Who may have a hand in the unsubmitted input."""

    typists: tuple[ActorId, ...] = ()
    """All operators who have typed."""

    def to_bytes(self) -> bytes:
        """Write it down."""
        return _ENCODER.encode(self)


_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(Checkpoint)


def read_checkpoint(raw: bytes, session: SessionId) -> Checkpoint:
    """Read what `to_bytes` wrote.

    Raises:
        PeerError: It is something else, or of another session.

    """
    try:
        found = _DECODER.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise MalformedMessage("checkpoint", str(error)) from None
    if found.version != VERSION or found.session != session:
        raise MalformedMessage("checkpoint", "of another version or session")
    return found


def checkpoint_fields(raw: bytes) -> dict[str, str | int | bool | None]:
    """Return the fields of the entry that names a checkpoint."""
    return {"state": hashlib.sha256(raw).hexdigest(), "size": len(raw)}


class Account:
    """What the entries of one book add up to, as far as they were read."""

    def __init__(self, session: SessionId, past: Checkpoint | None = None) -> None:
        self._session = session
        self.standing = Standing() if past is None else standing_of(past)
        self._origins = originators.Origins()
        self._commands: deque[commands.Command] = deque(maxlen=commands.MAX_KEPT)
        self._clients: OrderedDict[ClientId, int | None] = OrderedDict()
        self._signed: OrderedDict[tuple[ActorId, ClientId], int] = OrderedDict()
        self._had: OrderedDict[ActorId, int] = OrderedDict()
        self._typists: OrderedDict[ActorId, None] = OrderedDict()
        self._command = 0
        if past is not None:
            self._origins = originators.Origins.load(past.origins)
            self._commands.extend(past.commands.commands)
            self._clients.update(past.commands.clients)
            self._signed.update(((one, two), last) for one, two, last in past.signed)
            self._had.update(past.hands.had)
            self._typists.update(dict.fromkeys(past.typists))
            self._command = past.hands.command

    def read(self, entry: Entry) -> None:
        """Take the next entry."""
        self.standing.read(entry)
        if entry.kind is EntryKind.INPUT and entry.fields["input"] in TYPED:
            _put(self._typists, entry.actor, None, MAX_HANDS)
        match entry.kind:
            case EntryKind.INPUT if entry.fields["input"] == InputKind.COMMAND:
                self._remember(entry.client, None)
            case EntryKind.SIGNED:
                who = (entry.actor, entry.client)
                _put(self._signed, who, entry.number("last"), MAX_SIGNERS)
            case EntryKind.TURN if entry.fields["from"]:
                giver = ActorId(str(entry.fields["from"]))
                _put(self._had, giver, self._command, MAX_HANDS)
            case EntryKind.BEGAN | EntryKind.FINISHED | EntryKind.CHANGED:
                self._follow(entry)
            case EntryKind.RECOVERED:
                self._begin_life(entry)
            case _:
                pass

    def checkpoint(
        self,
        running: commands.Command | None = None,
        line: Iterable[ActorId] | None = None,
    ) -> Checkpoint:
        """Return the checkpoint to write now.

        `running` is the last command, with who has typed into it by now; `line` is who
        has a hand in the unsubmitted input, None if nobody knows.
        """
        kept = [*self._commands]
        if running and kept and kept[-1].number == running.number:
            hands, shared_ms = running.hands, running.shared_ms
            kept[-1] = replace(kept[-1], hands=hands, shared_ms=shared_ms)
        return Checkpoint(
            version=VERSION,
            session=self._session,
            through=self.standing.through,
            standing=_told(self.standing),
            hands=Hands(self._command, tuple(self._had.items())),
            signed=tuple((*who, last) for who, last in self._signed.items()),
            commands=commands.Kept(tuple(kept), tuple(self._clients.items())),
            origins=self._origins.dump(),
            line=tuple(self._typists if line is None else line),
            typists=tuple(self._typists),
        )

    def _begin_life(self, entry: Entry) -> None:
        """Keep the number of the last command: the shell is another one, or goes on.

        In a session that was moved here all goes on.
        """
        self._origins.read(entry)
        if commands.is_moved(entry):
            return
        kept = [*self._commands][-1:]
        self._commands.clear()
        offset = commands.offset_of(entry)
        self._commands.extend(commands.in_next_life(one, offset) for one in kept)

    def _follow(self, entry: Entry) -> None:
        self._origins.read(entry)
        if entry.kind is EntryKind.BEGAN:
            command = commands.read_began(entry.fields)
            self._command = command.number
            self._commands.append(command)
            if command.client is not None:
                self._remember(command.client, command.number)
        elif entry.kind is EntryKind.FINISHED and self._commands:
            last = commands.read_finished(self._commands[-1], entry.fields)
            self._commands[-1] = last

    def _remember(self, client: ClientId, command: int | None) -> None:
        known = self._clients.get(client)
        command = command if known is None else known
        _put(self._clients, client, command, commands.MAX_CLIENTS)


def standing_of(past: Checkpoint) -> Standing:
    """Return how things stood when it was written down."""
    said, found = past.standing, Standing()
    found.through = past.through
    found.life, found.epoch, found.holder = said.life, said.epoch, said.holder
    found.frozen, found.over = said.frozen, said.over
    found.open, found.open_life = said.open, said.open_life
    found.envelopes = dict(said.envelopes)
    found.forgotten = forgotten.Forgotten.load(said.forgotten)
    for one in said.last:
        outcome = outcome_from(one.outcome, Index(one.at), one.written)
        known = InputId(one.client, one.sequence)
        past_input = PastInput(one.actor, known, one.digest, outcome, one.epoch)
        found.last[one.actor, one.client] = (one.at, past_input)
    return found


def _told(standing: Standing) -> Told:
    last = [_last(index, past) for index, past in standing.past().items()]
    return Told(
        standing.life,
        standing.epoch,
        standing.holder,
        standing.frozen,
        standing.over,
        standing.open,
        standing.open_life,
        tuple(standing.envelopes.items()),
        tuple(last),
        standing.forgotten.dump(),
    )


def _last(index: int, past: PastInput) -> Last:
    outcome, known = past.outcome, past.id
    return Last(
        index,
        past.actor,
        known.client,
        known.sequence,
        past.digest,
        past.epoch,
        outcome.word,
        outcome.written if isinstance(outcome, Cut) else 0,
    )


def _put(kept: OrderedDict[Key, Kept], key: Key, value: Kept, limit: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > limit:
        kept.popitem(last=False)
