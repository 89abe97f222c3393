"""The order in which inputs reach the program, and each one's outcome.

Theory of operation
-------------------
All inputs of a session stand in one line. The first in line is judged, logged,
applied to the terminal, and only then is the next one looked at, so that every
input is judged against the state that all before it have left behind.

    queued ─▶ judged ─admit─▶ storing ─stored─▶ writing ─wrote─▶ applied ─synced─▶ ack
                │                │                 │                │
              reject        store_failed          cut          sync_failed
                ▼                ▼                 ▼                ▼
             refused          refused       dropped or cut       unknown

Applied inputs wait beside the line for the disk, so a slow disk delays the
acknowledgement of an input and never the typing of the next.

An input's id is a client and a count. Of each client we remember the next
count and the outcomes of its last REMEMBERED inputs. A known id is answered
with its outcome and never applied again; an id too old to be remembered is
answered *forgotten*, and not applied either. Clients of the turn's holder
are always remembered; others may be forgotten for room (ADR 0003), and so may one
that has signed everything it sent (core.input.statements): the next verb on a command
line finds room. Of those that wrote something, enough is kept (core.input.forgotten)
that a repeat is neither applied nor called refused: it is answered *forgotten* too.

Because the line is strict, an input in the logbook proves that every input
before it was settled. After a crash only the very last one can be in doubt, and
its outcome is said to be *unknown*. Recovery applies nothing.

Invariants, each checked by tests/core/input/test_serializer_properties.py:

I1  No input is applied twice, and none after another with a higher index.
I2  No input is acknowledged before it is applied and durable.
I3  After a cut, no byte submitted before it is applied.
I4  Every input gets one outcome; asking again gives the same one.
I5  The line is bounded in bytes and inputs, and so is what is remembered.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from holdfast.core.input.forgotten import Forgotten
from holdfast.model import errors
from holdfast.model.ids import NO_EPOCH, ActorId, ClientId, Epoch, Index
from holdfast.model.inputs import (
    MAX_INPUT,
    Input,
    InputId,
    InputKind,
    digest_of,
)
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown

QUEUE_BYTES = 1024 * 1024
"""Bytes that may wait for the program: several pastes, never a flood."""

QUEUE_INPUTS = 256
"""Inputs that may wait: half a minute of frantic typing at a hung program."""

REMEMBERED = 1024
"""Outcomes kept for each client: more than can be unanswered at any time
(QUEUE_INPUTS in line and as many waiting for the disk), so nothing that is
still open is ever forgotten."""

MAX_CLIENTS = 64
"""Clients remembered: one person's devices and an audience, generously."""


class Judge(msgspec.Struct, frozen=True):
    """Judge the first input in the queue."""

    input: Input


class Apply(msgspec.Struct, frozen=True):
    """Write the input to the terminal, or perform it if it is no text."""

    index: Index
    input: Input


class Sync(msgspec.Struct, frozen=True):
    """Make the logbook durable at least through `index`."""

    index: Index
    waits: bool = True
    """Whether a client waits to hear that it is."""


class Answer(msgspec.Struct, frozen=True):
    """Tell the sender of the input its outcome."""

    actor: ActorId
    id: InputId
    outcome: Outcome


Effect = Judge | Apply | Sync | Answer

SignedBy = Callable[[ActorId, ClientId], int]
"""Tells the last input that a client has signed, 0 if there is none."""


@dataclass(frozen=True, slots=True)
class PastInput:
    """An input of a predecessor, and what became of it."""

    actor: ActorId
    id: InputId
    digest: bytes | None
    outcome: Outcome
    epoch: Epoch
    """Of the turn that it was written under."""


Kept = bytes | tuple[InputKind, bytes] | None
"""By what a repeat is known: a digest, or of a key what it would be made of; None if
the logbook does not say."""


@dataclass(slots=True)
class _Client:
    """What we remember of one client under the present turn."""

    next: int = 1
    digests: OrderedDict[int, Kept] = field(default_factory=OrderedDict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    epoch: Epoch | None = None
    """Of the turn under which it wrote last; None if it never did."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing it sent is still open."""
        return len(self.outcomes) == len(self.digests)

    def begin(self, sequence: int, digest: Kept) -> None:
        self.next = sequence + 1
        self.digests[sequence] = digest
        while len(self.digests) > REMEMBERED:
            oldest, _ = self.digests.popitem(last=False)
            self.outcomes.pop(oldest, None)


def _nothing(_: ActorId, __: ClientId) -> int:
    return 0


class Serializer:
    """The one line that all inputs of one session stand in."""

    def __init__(self) -> None:
        self.signed_by: SignedBy = _nothing
        """Tells how far a client has signed, whom we may have forgotten."""

        self.forgotten = Forgotten()
        """What is kept of clients that were forgotten."""

        self._clients: OrderedDict[tuple[ActorId, ClientId], _Client] = OrderedDict()
        self._epoch = NO_EPOCH
        self._holder: ActorId | None = None
        self._queue: deque[Input] = deque()
        self.queued_bytes = 0
        """Bytes that wait in line, not counting what is being written."""

        self._judged: Input | None = None
        self._flying: tuple[Index, Input] | None = None
        self.writing: Index | None = None
        """The input whose bytes may be on their way to the terminal now."""

        self._written = 0
        self._applied: deque[tuple[Index, Input]] = deque()
        self._syncing: Index | None = None
        self.broken: str | None = None
        """Why nothing can be acknowledged any more, if so."""

    # ── what operators send ───────────────────────────────────────────────

    def submit(self, submitted: Input) -> list[Effect]:
        """Take an input: put it in line, or answer it from memory."""
        key = submitted.actor, submitted.id.client
        client = self._clients.get(key)
        try:
            if (
                self.is_known(submitted)
                if client is None
                else submitted.id.sequence < client.next
            ):
                outcome = self._remembered(submitted)
                if outcome is None:
                    return []  # Its answer is on the way, and goes to this client.
                return [Answer(submitted.actor, submitted.id, outcome)]
            self._check_room(submitted, client)
        except errors.HoldfastError as error:
            return [Answer(submitted.actor, submitted.id, Refused(error))]
        if client is None:
            client = self._client(key)
        else:
            self._clients.move_to_end(key)
        client.begin(submitted.id.sequence, submitted.digest())
        self._queue.append(submitted)
        self.queued_bytes += len(submitted.payload)
        return self._next()

    def press(self, key: Input, index: Index) -> bool:
        """Admit an input at once to be logged at `index`, as nobody is in line.

        Tell whether that was done: it must be the next of a client that is remembered,
        and find room. Else submit it.
        """
        whose = key.actor, key.id.client
        client, size = self._clients.get(whose), len(key.payload)
        if (
            client is None
            or key.id.sequence != client.next
            or not 0 < size <= MAX_INPUT
            or not self.is_open
        ):
            return False
        self._clients.move_to_end(whose)
        client.begin(key.id.sequence, (key.kind, key.payload))
        client.epoch = self._epoch
        self._flying = index, key
        self.writing, self._written = None, 0
        return True

    @property
    def is_open(self) -> bool:
        """Whether the line is empty, so that the next input can be admitted at once."""
        return (
            not self._queue
            and self._judged is None
            and self._flying is None
            and self.broken is None
            and len(self._applied) < QUEUE_INPUTS
        )

    def next_of(self, actor: ActorId, client: ClientId) -> int | None:
        """Return which input of a client comes next; None if it is not remembered."""
        known = self._clients.get((actor, client))
        return None if known is None else known.next

    def outcome_of(self, actor: ActorId, asked: InputId) -> Outcome | None:
        """Return what became of an input, or None while that is open or unheard of."""
        client = self._clients.get((actor, asked.client))
        return client.outcomes.get(asked.sequence) if client else None

    # ── what the gate and the logbook answer ──────────────────────────────

    def admit(self, index: Index) -> None:
        """Note that the judged input may happen and is being logged at `index`."""
        assert self._judged is not None, "only what was judged is admitted"  # noqa: S101
        self._clients[self._judged.actor, self._judged.id.client].epoch = self._epoch
        self._flying, self._judged = (index, self._judged), None
        self.writing, self._written = None, 0

    def reject(self, error: errors.HoldfastError) -> list[Effect]:
        """Refuse the judged input, and look at the next."""
        assert self._judged is not None, "only what was judged is rejected"  # noqa: S101
        refused, self._judged = self._judged, None
        return [*self._settle(refused, Refused(error)), *self._next()]

    def stored(self, index: Index) -> list[Apply]:
        """Go on once the admitted input is in the logbook at `index`."""
        if self._flying is None or self._flying[0] != index:
            return []  # It was cut while the disk was at work.
        self.writing = index
        return [Apply(index, self._flying[1])]

    def store_failed(self, why: str) -> list[Effect]:
        """Refuse the admitted input: what cannot be logged does not happen."""
        if self._flying is None or self.writing is not None:
            return []
        (_, refused), self._flying = self._flying, None
        answer = self._settle(refused, Refused(errors.LogbookFailed(why)))
        return [*answer, *self._next()]

    # ── what the terminal and the disk answer ─────────────────────────────

    def wrote(self, index: Index, count: int) -> list[Effect]:
        """Count bytes the terminal accepted of the input at `index`."""
        if self._flying is None or self._flying[0] != index:
            return []  # It was cut; the count is in the cut's own record.
        self._written += count
        if self._written < len(self._flying[1].payload):
            return []
        (at, applied), self._flying, self.writing = self._flying, None, None
        if self.broken is not None:
            return [*self._settle(applied, Unknown(at)), *self._next()]
        self._applied.append((at, applied))
        return [*self._sync(), *self._next()]

    def synced(self, index: Index) -> list[Effect]:
        """Acknowledge everything applied that is now durable."""
        self._syncing = None
        effects: list[Effect] = []
        while self._applied and self._applied[0][0] <= index:
            at, applied = self._applied.popleft()
            effects += self._settle(applied, Applied(at))
        return [*effects, *self._sync()]

    def sync_failed(self, why: str) -> list[Effect]:
        """Stop acknowledging for good: what the disk lost cannot be known.

        After a failed fsync the kernel may have thrown the pages away, so a
        later success proves nothing about them (F17).
        """
        self.broken, self._syncing = why, None
        effects: list[Effect] = []
        while self._applied:
            at, applied = self._applied.popleft()
            effects += self._settle(applied, Unknown(at))
        return [*effects, *self._refuse_queue(errors.LogbookFailed(why))]

    # ── when the turn moves ───────────────────────────────────────────────

    def cut(self, error: errors.HoldfastError) -> "CutReport":
        """Throw away everything not yet written; `error` says why.

        Takes no time and asks nobody: this is what makes a seize a seize.
        """
        report = CutReport(inputs=len(self._queue), bytes=self.queued_bytes)
        report.effects += self._refuse_queue(error)
        if self._judged is not None:
            report.inputs += 1
            report.bytes += len(self._judged.payload)
            report.effects += self._settle(self._judged, Refused(error))
            self._judged = None
        if self._flying is not None:
            self._cut_flying(report, error)
        return report

    def begin_turn(self, holder: ActorId | None, epoch: Epoch) -> None:
        """Learn whose clients must not be forgotten from now on."""
        self._holder, self._epoch = holder, epoch
        self.forgotten.begin(epoch)

    def remember(self, past: PastInput) -> None:
        """Take up, after a crash, what the logbook says of one input.

        A digest that the logbook does not hold (a secret's) is None, and any
        repeat of that id counts as the same.
        """
        client = self._client((past.actor, past.id.client))
        client.begin(past.id.sequence, past.digest)
        client.outcomes[past.id.sequence] = past.outcome
        if not isinstance(past.outcome, Refused):
            client.epoch = past.epoch

    # ── inside ────────────────────────────────────────────────────────────

    def _remembered(self, known: Input) -> Outcome | None:
        client = self._clients.get((known.actor, known.id.client))
        sequence = known.id.sequence
        if client is None or sequence not in client.digests:
            raise errors.OutcomeForgotten(known.id.client, sequence)
        kept = client.digests[sequence]
        digest = digest_of(*kept) if isinstance(kept, tuple) else kept
        if digest is not None and digest != known.digest():
            raise errors.InputIdReused(known.id.client, sequence)
        return client.outcomes.get(sequence)

    def is_known(self, submitted: Input) -> bool:
        """Tell whether an input with this id was taken before."""
        client = self._clients.get((submitted.actor, submitted.id.client))
        if client is not None:
            return submitted.id.sequence < client.next
        is_counted = submitted.id.sequence < self._expected(submitted)
        return is_counted or self._may_be_forgotten(submitted)

    def _expected(self, submitted: Input) -> int:
        """Return the next count of a client that is not remembered."""
        key = submitted.actor, submitted.id.client
        return self.forgotten.following(*key) or self.signed_by(*key) + 1

    def _may_be_forgotten(self, submitted: Input) -> bool:
        """Tell whether nobody can say if a client that is not known wrote this."""
        may_hold = self.forgotten.may_hold(submitted.epoch)
        return (
            may_hold
            and self.forgotten.following(submitted.actor, submitted.id.client) is None
        )

    def _check_room(self, submitted: Input, client: _Client | None) -> None:
        expected = self._expected(submitted) if client is None else client.next
        if submitted.id.sequence > expected:
            raise errors.InputGap(submitted.id.client, expected, submitted.id.sequence)
        size = len(submitted.payload)
        if not 0 < size <= MAX_INPUT:
            raise errors.InputTooLarge(size, MAX_INPUT)
        if self.broken is not None:
            raise errors.LogbookFailed(self.broken)
        if (
            self.queued_bytes + size > QUEUE_BYTES
            or len(self._queue) >= QUEUE_INPUTS
            or len(self._applied) >= QUEUE_INPUTS
        ):
            raise errors.Busy(self.queued_bytes, QUEUE_BYTES)
        if client is None and not self._has_room():
            raise errors.TooManyClients(MAX_CLIENTS)

    def _has_room(self) -> bool:
        return len(self._clients) < MAX_CLIENTS or self._forgettable() is not None

    def _forgettable(self) -> tuple[ActorId, ClientId] | None:
        """Return the longest silent client that can be forgotten safely.

        Not one of the turn's holder, whose epoch is the present one, unless it has
        signed all it sent; and not one with something open, or a repeat of that
        would be taken for new.
        """
        return next(
            (
                key
                for key, client in self._clients.items()
                if client.is_settled
                and (key[0] != self._holder or self._has_signed(key, client))
                and not (client.epoch == self._epoch and self.forgotten.is_full)
            ),
            None,
        )

    def _has_signed(self, key: tuple[ActorId, ClientId], client: _Client) -> bool:
        return self.signed_by(*key) + 1 >= client.next

    def _client(self, key: tuple[ActorId, ClientId]) -> _Client:
        if key not in self._clients and len(self._clients) >= MAX_CLIENTS:
            # Only what is taken up after a crash can be of more clients than fit;
            # the longest silent of them wrote last under an earlier turn.
            gone = self._forgettable() or next(iter(self._clients))
            forgotten = self._clients.pop(gone)
            if forgotten.epoch is not None:
                self.forgotten.add(*gone, forgotten.epoch, forgotten.next)
        client = self._clients.setdefault(key, _Client())
        self._clients.move_to_end(key)
        return client

    def _next(self) -> list[Effect]:
        if self._judged is not None or self._flying is not None or not self._queue:
            return []
        self._judged = self._queue.popleft()
        self.queued_bytes -= len(self._judged.payload)
        return [Judge(self._judged)]

    def _sync(self) -> list[Effect]:
        if not self._applied or self._syncing is not None or self.broken is not None:
            return []
        self._syncing = self._applied[-1][0]
        for _, one in self._applied:
            if one.waits:
                return [Sync(self._syncing, waits=True)]
        return [Sync(self._syncing, waits=False)]

    def _settle(self, settled: Input, outcome: Outcome) -> list[Effect]:
        # A client with an open input is never forgotten, nor is the input.
        self._clients[settled.actor, settled.id.client].outcomes[
            settled.id.sequence
        ] = outcome
        return [Answer(settled.actor, settled.id, outcome)]

    def _refuse_queue(self, error: errors.HoldfastError) -> list[Effect]:
        effects: list[Effect] = []
        while self._queue:
            effects += self._settle(self._queue.popleft(), Refused(error))
        self.queued_bytes = 0
        return effects

    def _cut_flying(self, report: "CutReport", error: errors.HoldfastError) -> None:
        assert self._flying is not None, "nothing is being written"  # noqa: S101
        (index, flying), self._flying = self._flying, None
        outcome: Outcome = Refused(error)
        is_stored, self.writing = self.writing is not None, None
        if is_stored:
            outcome = Cut(index, self._written) if self._written else Dropped(index)
            report.settled = outcome
        else:
            report.unstored = index
        report.inputs += 1
        report.bytes += len(flying.payload) - self._written
        report.effects += self._settle(flying, outcome)


@dataclass(slots=True)
class CutReport:
    """What a cut threw away."""

    inputs: int = 0
    bytes: int = 0
    settled: Cut | Dropped | None = None
    """What became of the one that was in the logbook already, if there was one."""

    unstored: Index | None = None
    """Where the one would stand that was on its way into the logbook."""

    effects: list[Effect] = field(default_factory=list)
