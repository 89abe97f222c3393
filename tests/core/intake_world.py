import base64
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
)

from holdfast.core.book.inheritance import Inheritance, Note, inherit
from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import Entry, EntryKind, Head, Logbook, genesis, recover
from holdfast.core.input import gate, turn
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Consult, Effect, KeepNote, Settings
from holdfast.core.input.serializer import Answer, Apply, Sync
from holdfast.core.relay.lease import LeaseHolder, SelfFence, host_span
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import (
    ActorId,
    Epoch,
    HostId,
    Incarnation,
    Index,
    SessionId,
)
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown
from holdfast.model.verdicts import Verdict

SESSION, HOST = SessionId("s_one"), HostId("h_one")
ANNA, BOT, AIDE, EVE = (ActorId(name) for name in ("anna", "bot", "aide", "eve"))
RIGHTS = {
    ANNA: frozenset(Right),
    BOT: frozenset({Right.INPUT, Right.TAKE}),
    AIDE: frozenset({Right.INPUT, Right.TAKE, Right.APPROVE}),
    EVE: frozenset({Right.OBSERVE}),
}
POLICY, APPROVAL, GRACE, TTL = 2.0, 20.0, 5.0, 30.0

# Answers that speak of the id and not of what became of the input.
ABOUT_THE_ID = {"input-gap", "outcome-forgotten", "stale-incarnation"}

Key = tuple[ActorId, InputId]

actors = st.sampled_from((ANNA, BOT, BOT, AIDE, EVE))


@dataclass
class Ticket:
    """What the policy and the operators said of one input, as it happened."""

    given: Input
    epoch: Epoch
    dies_at: float
    word: str = "open"


@dataclass
class Truth:
    """What really happened, whatever any process believes."""

    file: bytearray = field(default_factory=bytearray)
    durable: int = 0
    note: Note | None = None
    sent: dict[Key, Input] = field(default_factory=dict)
    written: Counter[Key] = field(default_factory=Counter)
    bytes_at: Counter[Index] = field(default_factory=Counter)
    index_of: dict[Key, Index] = field(default_factory=dict)
    acked: dict[Key, Index] = field(default_factory=dict)
    last_index: int = -1
    allowed: set[Key] = field(default_factory=set)
    frozen: bool = False
    seized: tuple[ActorId, int] = (ANNA, 0)


class World(RuleBasedStateMachine):
    """A process that holds a session, what it stands on, and the truth about it."""

    def start(self, default: turn.AskDefault, *, leased: bool) -> None:
        self.now = 100.0
        self.truth = Truth()
        self.fuse: int | None = None
        self.fast_disk = self.quick_policy = self.quick_terminal = True
        self.granted: dict[ActorId, frozenset[Right]] = {}
        self.clients = Counter[ActorId]()
        self.turn_rules = turn.TurnRules(60.0, GRACE, default)
        self.life = Incarnation(1)
        self.lease: LeaseHolder | None = None
        self.expires_at = float("inf")
        if leased:
            self.expires_at = self.now + host_span(TTL)
            self.lease = LeaseHolder(
                HOST, self.now, incarnation=self.life, expires_at=self.expires_at
            )
        self.storing: Entry | None
        self.writing: tuple[Index, Input] | None
        self.unreported: tuple[Index, int] | None
        self.wake()
        self.truth.durable = len(self.truth.file)

    def the_host_dies(self, kept: int) -> None:
        truth = self.truth
        del truth.file[truth.durable + kept :]
        entries = recover(bytes(truth.file), SESSION).entries
        assert all(index < len(entries) for index in truth.acked.values()), "I2"
        for index in [index for index in truth.bytes_at if index >= len(entries)]:
            del truth.bytes_at[index]
        truth.note, truth.last_index, truth.frozen = None, -1, False
        # A turn that was not durable is forgotten; what was made under it names
        # a life that is over.
        truth.seized = (ANNA, 0)
        self.life = Incarnation(self.life + 1)
        if self.lease is not None:
            self.expires_at = self.now + host_span(TTL)
            self.lease = LeaseHolder(
                HOST, self.now, incarnation=self.life, expires_at=self.expires_at
            )
        self.wake()

    # ── what disk, terminal and policy do ─────────────────────────────────

    def store_line(self) -> None:
        assert self.storing is not None
        self.truth.file += self.storing.line + b"\n"
        self.storing = None
        if self.step():
            self.do(self.intake.stored(self.at))

    def write_bytes(self, *, whole: bool) -> None:
        assert self.writing is not None
        index, given = self.writing
        left = len(given.payload) - self.truth.bytes_at[index]
        count = left if whole else 1
        self.check_write(index, given, count)
        if self.step():
            self.do(self.intake.wrote(index, count, self.at))

    def sync(self) -> None:
        index, size = self.syncing.pop(0)
        self.truth.durable = max(self.truth.durable, size)
        if self.step():
            self.do(self.intake.synced(index, self.at))

    def policy_says(self, number: int, word: str) -> None:
        ticket = self.tickets[number]
        if ticket.word == "open":
            ticket.word = word
            ticket.dies_at = self.now + APPROVAL
            if word == "allow":
                self.truth.allowed.add((ticket.given.actor, ticket.given.id))
        if word == "x":
            self.do(self.intake.resolve(gate.PolicyFailed(number, "crashed"), self.at))
        else:
            said = gate.Judged(number, Verdict(word), "r")
            self.do(self.intake.judged(said, self.at, echo_off=False))

    def check_write(self, index: Index, given: Input, count: int) -> None:
        truth, key = self.truth, (given.actor, given.id)
        holder, epoch = self.hands
        assert given.actor == holder, "I1"
        assert given.epoch in (epoch, self.free_epoch), "I1"
        assert given.incarnation == self.life, "I1"
        assert key in truth.allowed, "I2"
        entry = self.entries()[index]
        assert entry.kind is EntryKind.INPUT, "I2"
        assert (entry.fields["actor"], entry.fields["client"]) == (
            given.actor,
            given.id.client,
        ), "I2"
        assert entry.fields.get("data") == (
            base64.b64encode(given.payload).decode()
            if given.kind is InputKind.KEYS
            else None
        ), "I2"
        assert not truth.frozen, "I3"
        assert self.now < self.expires_at, "I3"
        seizer, since = truth.seized
        assert given.epoch >= since or given.actor == seizer, "I4"
        assert Right.INPUT in self.rights_of(given.actor), "T17"
        assert index >= truth.last_index, "serializer I1"
        assert truth.index_of.setdefault(key, index) == index, "serializer I1"
        assert truth.written[key] + count <= len(given.payload), "serializer I1"
        truth.last_index = index
        truth.written[key] += count
        truth.bytes_at[index] += count

    def check_answer(self, key: Key, outcome: Outcome) -> None:
        truth, given = self.truth, self.truth.sent[key]
        self.open.discard(key)
        if isinstance(outcome, Refused):
            if outcome.error.code == "input-gap":
                self.clients[key[0]] += 1
            if outcome.error.code in ABOUT_THE_ID:
                return
        if given.incarnation != self.life:
            return
        assert key not in truth.acked or isinstance(outcome, Applied), "serializer I4"
        self.check_outcome(key, outcome)
        if isinstance(outcome, Applied):
            assert self.is_held_as_applied(key, outcome), "serializer I2"
            truth.acked[key] = outcome.index

    def is_held_as_applied(self, key: Key, outcome: Outcome) -> bool:
        durable = recover(bytes(self.truth.file[: self.truth.durable]), SESSION)
        after = inherit(durable.entries, None, Incarnation(self.life + 1))
        return any(
            (past.actor, past.id, past.outcome) == (*key, outcome)
            for past in after.inputs
        )

    def check_outcome(self, key: Key, outcome: Outcome) -> None:
        truth = self.truth
        size = len(truth.sent[key].payload)
        match outcome:
            case Applied(index):
                assert truth.bytes_at[index] == truth.written[key] == size, "I2"
            case Cut(index, written):
                assert truth.bytes_at[index] == written > 0, "serializer I4"
            case Dropped(index):
                assert truth.bytes_at[index] == 0, "serializer I4"
            case Refused():
                assert truth.written[key] == 0, "serializer I4"
            case Unknown():
                pass

    def check_inheritance(self, inherited: Inheritance) -> None:
        truth, note = self.truth, self.truth.note
        floor = [entry.epoch for entry in self.entries()]
        floor += [] if note is None else [note.epoch]
        assert inherited.epoch >= max(floor), "inheritance I3"
        assert inherited.epoch >= truth.seized[1], "I4"
        assert inherited.frozen or not truth.frozen, "I3"
        rights: dict[str, str] = {}
        for entry in self.entries():
            if entry.kind in {EntryKind.GRANTED, EntryKind.REVOKED}:
                rights[str(entry.fields["actor"])] = str(entry.fields.get("rights", ""))
        for actor, words in rights.items():
            envelope = inherited.envelopes.get(ActorId(actor), Envelope(frozenset()))
            assert ",".join(sorted(envelope.rights)) == words, "T68"
        outcomes = {(past.actor, past.id): past.outcome for past in inherited.inputs}
        for key, outcome in outcomes.items():
            # What an earlier life was asked to do may have gone down with it.
            if truth.sent[key].incarnation == self.life or not isinstance(
                outcome, Refused
            ):
                self.check_outcome(key, outcome)  # inheritance I2
        for key, index in truth.acked.items():
            assert outcomes[key] == Applied(index), "inheritance I1"

    # ── the process and its surroundings ──────────────────────────────────

    @property
    def at(self) -> Moment:
        return Moment(self.now, self.now + 1e9, self.now)

    def entries(self) -> tuple[Entry, ...]:
        return recover(bytes(self.truth.file), SESSION).entries

    def wake(self) -> None:
        recovered = recover(bytes(self.truth.file), SESSION)
        del self.truth.file[len(self.truth.file) - recovered.torn :]
        self.truth.durable = len(self.truth.file)
        head = genesis(SESSION)
        for entry in recovered.entries:
            head = Head(SESSION, entry.index, entry.hash)
        rules = gate.GateRules(POLICY, APPROVAL)
        given = Settings(SESSION, self.life, b"key", self.turn_rules, rules)
        self.intake = Intake(given, Logbook(head), self.lease)
        self.fuse = self.storing = self.writing = self.unreported = None
        self.syncing: list[tuple[Index, int]] = []
        self.tickets: dict[int, Ticket] = {}
        self.open: set[Key] = set()
        self.hands: tuple[ActorId | None, Epoch] = (None, Epoch(0))
        self.free_epoch: Epoch | None = None
        if recovered.entries:
            inherited = inherit(recovered.entries, self.truth.note, self.life)
            self.check_inheritance(inherited)
            self.granted = {
                actor: envelope.rights
                for actor, envelope in inherited.envelopes.items()
            }
            self.hands = (inherited.holder, inherited.epoch)
            self.do(self.intake.resume(inherited, self.at))
            self.settle_down()
        else:
            self.do(self.intake.record(EntryKind.OPENED, {}, self.at))
            for actor, rights in RIGHTS.items():
                self.granted[actor] = rights
                self.do(self.intake.grant(actor, Envelope(rights), ANNA, self.at))

    def settle_down(self) -> None:
        # Nobody is served before this is durable.
        while self.storing is not None or self.syncing:
            if self.storing is not None:
                self.store_line()
            else:
                self.sync()

    def look_at_the_clock(self) -> None:
        for ticket in self.tickets.values():
            if ticket.word in {"open", "ask"} and self.now >= ticket.dies_at:
                ticket.word = "dead"
        if self.lease is not None and any(
            isinstance(effect, SelfFence) for effect in self.lease.tick(self.now)
        ):
            self.do(self.intake.fenced(self.at))
        if self.do(self.intake.tick(self.at)):
            deadline = self.intake.next_deadline()
            assert deadline is None or deadline > self.now

    def step(self) -> bool:
        if self.fuse is None:
            return True
        self.fuse -= 1
        if self.fuse < 0:
            self.wake()
        return self.fuse is not None

    def do(self, effects: list[Effect]) -> bool:
        for effect in effects:
            self.perform(effect)
            if not self.step():
                return False
        if self.fast_disk and self.storing is not None:
            self.store_line()
        if self.fast_disk and self.syncing:
            self.sync()
        if self.unreported is not None:
            (index, count), self.unreported = self.unreported, None
            self.do(self.intake.wrote(index, count, self.at))
        elif self.quick_terminal and self.can_write():
            self.write_bytes(whole=True)
        open_tickets = [
            n for n, ticket in self.tickets.items() if ticket.word == "open"
        ]
        if self.quick_policy and open_tickets:
            self.policy_says(open_tickets[-1], "allow")
        return True

    def perform(self, effect: Effect) -> None:
        match effect:
            case KeepNote(note):
                self.truth.note = note
            case Store(entry):
                assert self.storing is None
                self.storing = entry
            case Consult(ticket, given):
                epoch, until = self.intake.turn.epoch, self.now + POLICY
                self.tickets[ticket] = Ticket(given, epoch, until)
            case Apply(index, given):
                self.begin_writing(index, given)
            case Sync(index):
                self.syncing.append((index, len(self.truth.file)))
            case Answer(actor, asked, outcome):
                self.check_answer((actor, asked), outcome)
            case turn.PassTurn(giver, taker, epoch):
                self.free_epoch = self.hands[1] if giver is None else None
                self.hands = (taker, epoch)
            case _:
                pass

    def begin_writing(self, index: Index, given: Input) -> None:
        self.writing = (index, given)
        if self.quick_terminal and self.can_write():
            self.check_write(index, given, len(given.payload))
            self.unreported = (index, len(given.payload))

    def can_write(self) -> bool:
        return (
            self.writing is not None
            and self.intake.serializer.writing == self.writing[0]
            and self.intake.blocked(self.at.boot) is None
        )

    def rights_of(self, actor: ActorId) -> frozenset[Right]:
        return self.granted.get(actor, frozenset())

    def draw_ticket(self, data: st.DataObject, word: str) -> int:
        # Mostly one that waits for an answer, sometimes any.
        waiting = [n for n, ticket in self.tickets.items() if ticket.word == word]
        if not waiting or data.draw(st.integers(0, 3)) == 0:
            waiting = list(self.tickets)
        return data.draw(st.sampled_from(waiting))
