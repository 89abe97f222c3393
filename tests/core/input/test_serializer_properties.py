from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from holdfast.core.input.serializer import (
    MAX_CLIENTS,
    QUEUE_BYTES,
    REMEMBERED,
    Answer,
    Apply,
    Effect,
    Judge,
    Serializer,
    Sync,
)
from holdfast.model.errors import DeniedByPolicy, TurnMoved
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, Index
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown

ACTORS = (ActorId("anna"), ActorId("bot"))
CLIENTS = (ClientId("c_1"), ClientId("c_2"))

Key = tuple[ActorId, InputId]

# Refused before they stand in line, so that the same id may be tried again.
NOT_IN_LINE = {"busy", "input-gap", "input-id-reused", "logbook-failed"}


class EverythingAroundTheLineMisbehaves(RuleBasedStateMachine):
    """Clients repeat themselves, the terminal takes bits, the disk is slow or broken.

    The record beside it knows every byte that went in, and every promise made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.line = Serializer()
        self.epoch = 0
        self.sent: dict[Key, Input] = {}
        self.indices = 0
        self.judged: Input | None = None
        self.storing: list[tuple[Index, Input]] = []
        self.writing: tuple[Index, Input] | None = None
        self.terminal: Counter[Index] = Counter()
        self.at: dict[Index, Input] = {}
        self.highest = -1
        self.syncing: Index | None = None
        self.durable = -1
        self.cut_before: set[Key] = set()
        self.outcomes: dict[Key, Outcome] = {}
        self.open: set[Key] = set()

    # ── what operators send ───────────────────────────────────────────────

    @rule(
        actor=st.sampled_from(ACTORS),
        client=st.sampled_from(CLIENTS),
        size=st.sampled_from((1, 3)),
    )
    def sends(self, actor: ActorId, client: ClientId, size: int) -> None:
        earlier = [key for key in self.sent if key[0] == actor]
        sequence = 1 + sum(key[1].client == client for key in earlier)
        given = self.an_input(actor, InputId(client, sequence), b"x" * size)
        effects = self.line.submit(given)
        if not self.is_turned_away(effects):
            key = (actor, given.id)
            self.sent[key] = given
            self.open.add(key)
        self.hear(effects)

    @precondition(lambda self: bool(self.sent))
    @rule(data=st.data())
    def repeats(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.sent)))
        effects = self.line.submit(self.sent[key])
        if key in self.open:
            assert effects == [], "I4"
        else:
            assert effects == [Answer(*key, self.outcomes[key])], "I4"

    @precondition(lambda self: bool(self.sent))
    @rule(data=st.data())
    def reuses_an_id_or_skips_one(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.sent)))
        effects = self.line.submit(self.an_input(*key, b"other"))
        assert self.is_turned_away(effects), "I1"
        far = InputId(key[1].client, len(self.sent) + 2)
        skipped = self.line.submit(self.an_input(key[0], far, b"x"))
        assert self.is_turned_away(skipped), "I1"

    # ── what the gate, the disk and the terminal answer ───────────────────

    @precondition(lambda self: self.judged is not None)
    @rule(allowed=st.sampled_from((True, True, False)))
    def the_gate_answers(self, *, allowed: bool) -> None:
        judged, self.judged = self.judged, None
        assert judged is not None
        if not allowed:
            self.hear(self.line.reject(DeniedByPolicy("no", "")))
            return
        index = Index(self.indices)
        self.indices += 2
        self.line.admit(index)
        self.storing.append((index, judged))

    @precondition(lambda self: bool(self.storing))
    @rule()
    def the_line_is_stored(self) -> None:
        index, given = self.storing.pop(0)
        self.at[index] = given
        self.hear([*self.line.stored(index)])

    @precondition(lambda self: bool(self.storing))
    @rule()
    def the_line_is_not_stored(self) -> None:
        self.storing.clear()
        self.hear(self.line.store_failed("full"))

    @precondition(lambda self: self.writing is not None)
    @rule(whole=st.booleans())
    def the_terminal_takes_bytes(self, *, whole: bool) -> None:
        assert self.writing is not None
        index, given = self.writing
        left = len(given.payload) - self.terminal[index]
        count = left if whole else 1
        assert (given.actor, given.id) not in self.cut_before, "I3"
        self.terminal[index] += count
        if count == left:
            self.writing = None
        self.hear(self.line.wrote(index, count))

    @precondition(lambda self: bool(self.terminal))
    @rule(data=st.data())
    def an_old_count_comes_late(self, data: st.DataObject) -> None:
        index = data.draw(st.sampled_from(list(self.terminal)))
        if self.writing is None or self.writing[0] != index:
            assert self.line.wrote(index, 1) == []

    @precondition(lambda self: self.syncing is not None)
    @rule()
    def the_disk_is_synced(self) -> None:
        assert self.syncing is not None
        self.durable, self.syncing = self.syncing, None
        self.hear(self.line.synced(Index(self.durable)))

    @precondition(lambda self: self.syncing is not None and len(self.outcomes) > 6)
    @rule()
    def the_disk_breaks(self) -> None:
        self.syncing = None
        self.hear(self.line.sync_failed("EIO"))

    # Without it most stories would end before a byte is written.
    @rule(steps=st.sampled_from((1, 2, 3, 9)))
    def all_goes_well(self, steps: int) -> None:
        for _ in range(steps):
            if self.judged is not None:
                self.the_gate_answers(allowed=True)
            elif self.storing:
                self.the_line_is_stored()
            elif self.writing is not None:
                self.the_terminal_takes_bytes(whole=True)
            elif self.syncing is not None:
                self.the_disk_is_synced()

    # ── when the turn moves ───────────────────────────────────────────────

    @precondition(lambda self: bool(self.open))
    @rule(holder=st.sampled_from((None, *ACTORS)))
    def the_turn_moves(self, holder: ActorId | None) -> None:
        dropped = self.judged, self.writing
        report = self.line.cut(TurnMoved("anna", 2))
        self.judged = self.writing = None
        applied = {(given.actor, given.id) for given in self.whole()}
        self.cut_before |= self.sent.keys() - applied
        if dropped[1] is not None:
            index = dropped[1][0]
            written = self.terminal[index]
            expected = Cut(index, written) if written else Dropped(index)
            assert report.settled == expected, "I4"
        self.hear(report.effects)
        assert not self.cut_before & self.open, "I3"
        self.epoch += 1
        self.line.begin_turn(holder, Epoch(self.epoch))

    # ── what must hold ────────────────────────────────────────────────────

    @invariant()
    def no_input_is_applied_twice(self) -> None:
        wholes = Counter((given.actor, given.id) for given in self.whole())
        assert all(count == 1 for count in wholes.values()), "I1"
        for index, count in self.terminal.items():
            assert count <= len(self.at[index].payload), "I1"

    @invariant()
    def what_is_remembered_is_what_was_said(self) -> None:
        for key, outcome in self.outcomes.items():
            assert self.line.outcome_of(*key) == outcome, "I4"
        for key in self.open:
            assert self.line.outcome_of(*key) is None, "I4"

    @invariant()
    def the_line_is_bounded(self) -> None:
        assert 0 <= self.line.queued_bytes <= QUEUE_BYTES, "I5"
        assert len(self.sent) <= REMEMBERED * MAX_CLIENTS, "I5"

    @invariant()
    def somebody_is_always_being_served(self) -> None:
        waits = bool(self.line.queued_bytes)
        assert not waits or self.judged or self.storing or self.writing

    def whole(self) -> list[Input]:
        return [
            self.at[index]
            for index, count in self.terminal.items()
            if count == len(self.at[index].payload)
        ]

    def hear(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Judge(given):
                    assert self.judged is None, "I1"
                    assert self.writing is None, "I1"
                    self.judged = given
                case Apply(index, given):
                    assert index > self.highest, "I1"
                    self.highest = index
                    self.writing = (index, given)
                    self.terminal[index] = 0
                case Sync(index):
                    assert self.syncing is None
                    self.syncing = index
                case Answer(actor, asked, outcome):
                    self.check_answer((actor, asked), outcome)

    def check_answer(self, key: Key, outcome: Outcome) -> None:
        if key not in self.sent:
            return
        assert key in self.open, "I4"
        self.open.discard(key)
        self.outcomes[key] = outcome
        match outcome:
            case Applied(index):
                assert self.terminal[index] == len(self.at[index].payload), "I2"
                assert index <= self.durable, "I2"
                assert (self.at[index].actor, self.at[index].id) == key, "I2"
            case Cut(index, written):
                assert self.terminal[index] == written > 0, "I4"
            case Dropped(index):
                assert self.terminal[index] == 0, "I4"
            case Unknown(index):
                assert self.line.broken is not None, "I4"
                assert self.at[index].id == key[1], "I4"
            case Refused():
                assert self.sent[key] not in [
                    self.at[index] for index, count in self.terminal.items() if count
                ], "I4"

    @staticmethod
    def is_turned_away(effects: list[Effect]) -> bool:
        return any(
            isinstance(effect, Answer)
            and isinstance(effect.outcome, Refused)
            and effect.outcome.error.code in NOT_IN_LINE
            for effect in effects
        )

    @staticmethod
    def an_input(actor: ActorId, given_id: InputId, payload: bytes) -> Input:
        kind, life, epoch = InputKind.KEYS, Incarnation(1), Epoch(1)
        return Input(given_id, actor, kind, life, epoch, payload)


EverythingAroundTheLineMisbehaves.TestCase.settings = settings(stateful_step_count=50)
TestEverythingAroundTheLineMisbehaves = EverythingAroundTheLineMisbehaves.TestCase
