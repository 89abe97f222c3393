from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.core.input import turn as turn_machine
from holdfast.core.input.turn import (
    Answered,
    AskDefault,
    AskedFor,
    AskHolder,
    Dropped,
    Effect,
    Gave,
    Left,
    PassReason,
    PassTurn,
    Refuse,
    Returned,
    Revoked,
    Seized,
    Took,
    Turn,
    TurnRules,
    Waiting,
    first,
    human_first,
)
from holdfast.model.actors import ActorKind
from holdfast.model.errors import Forbidden
from holdfast.model.ids import ActorId, Epoch

ACTORS = tuple(ActorId(name) for name in ("anna", "bot", "carl", "dora"))
LIMIT, GRACE = 20.0, 5.0
FREEING = {
    PassReason.DROPPED,
    PassReason.EXPIRED,
    PassReason.ABANDONED,
    PassReason.REVOKED,
}

actors = st.sampled_from(ACTORS)


def last(line: Sequence[Waiting]) -> ActorId:
    return line[-1].actor


def nobody(_: Sequence[Waiting]) -> ActorId:
    return ActorId("nobody who waits")


def kind_of(actor: ActorId) -> ActorKind:
    return ActorKind.AGENT if actor == "bot" else ActorKind.HUMAN


rules = st.builds(
    TurnRules,
    st.sampled_from((None, LIMIT)),
    st.just(GRACE),
    st.sampled_from(AskDefault),
    st.sampled_from((first, human_first, last, nobody)),
    st.sampled_from(({}, {ActorKind.AGENT: LIMIT / 2})),
)


class EverybodyWantsTheTurn(RuleBasedStateMachine):
    """Four operators do whatever they like, and a clock that may be late ticks.

    Beside the machine stands a record made only of what it announced: whoever
    reads nothing but the effects must never be surprised by its answers.
    """

    @initialize(turn_rules=rules, epoch=st.integers(0, 3))
    def begin(self, turn_rules: TurnRules, epoch: int) -> None:
        self.now = 0.0
        self.turn_rules = self.coming_rules = turn_rules
        self.turn = Turn(turn_rules, epoch=Epoch(epoch), kind_of=kind_of)
        self.holder: ActorId | None = None
        self.epoch = epoch
        self.free_epochs = {epoch}
        self.hands: dict[int, ActorId | None] = {epoch: None}
        self.wait_until: dict[ActorId, float] = {}
        self.held_since = 0.0
        self.gone_since: float | None = None

    # ── what operators do ─────────────────────────────────────────────────

    @rule(actor=actors)
    def takes(self, actor: ActorId) -> None:
        was_free = self.holder is None
        self.act(Took(actor))
        assert (self.holder == actor) or not was_free

    @rule(actor=actors, patience=st.sampled_from((0.0, 1.0, 7.0, 30.0)))
    def asks(self, actor: ActorId, patience: float) -> None:
        self.act(AskedFor(actor, patience))
        if self.holder != actor:
            self.wait_until.setdefault(actor, self.now + patience)

    @rule(actor=actors, asker=actors, granted=st.booleans())
    def answers(self, actor: ActorId, asker: ActorId, *, granted: bool) -> None:
        entitled = actor == self.holder and asker in self.wait_until
        effects = self.act(Answered(actor, asker, granted))
        assert self.has_passed(effects) == (entitled and granted)

    @precondition(lambda self: bool(self.wait_until))
    @rule(data=st.data(), granted=st.booleans())
    def holder_answers(self, data: st.DataObject, *, granted: bool) -> None:
        assert self.holder is not None, "I4"
        asker = data.draw(st.sampled_from(sorted(self.wait_until)))
        self.answers(self.holder, asker, granted=granted)

    @rule(actor=actors, to=actors)
    def gives(self, actor: ActorId, to: ActorId) -> None:
        entitled = actor == self.holder and to != actor
        assert self.has_passed(self.act(Gave(actor, to))) == entitled

    @rule(actor=actors)
    def drops(self, actor: ActorId) -> None:
        entitled = actor == self.holder
        assert self.has_passed(self.act(Dropped(actor))) == entitled

    @rule(actor=actors)
    def seizes(self, actor: ActorId) -> None:
        epoch = self.epoch
        self.act(Seized(actor))
        assert (self.turn.holder, self.turn.epoch) == (actor, epoch + 1), "I3"

    @rule(actor=actors)
    def leaves(self, actor: ActorId) -> None:
        assert self.act(Left(actor)) == []
        self.wait_until.pop(actor, None)
        if actor == self.holder:
            self.gone_since = self.now

    @rule(actor=actors)
    def returns(self, actor: ActorId) -> None:
        assert self.act(Returned(actor)) == []
        if actor == self.holder:
            self.gone_since = None

    @rule(actor=actors)
    def is_revoked(self, actor: ActorId) -> None:
        self.wait_until.pop(actor, None)
        self.act(Revoked(actor))
        assert self.turn.holder != actor
        assert actor not in self.turn.waiting

    # ── what the clock and the machine room do ────────────────────────────

    @rule(seconds=st.sampled_from((1.0, GRACE, LIMIT)))
    def time_passes_and_somebody_looks(self, seconds: float) -> None:
        self.now += seconds
        self.tick()

    @rule()
    def the_next_deadline_comes(self) -> None:
        deadline = self.turn.next_deadline()
        if deadline is not None:
            self.now = max(self.now, deadline)
            self.tick()

    @rule(turn_rules=rules)
    def the_rules_change(self, turn_rules: TurnRules) -> None:
        self.turn.adopt(turn_rules)
        self.coming_rules = turn_rules
        if self.holder is None:
            self.turn_rules = turn_rules

    @rule()
    def the_process_is_replaced(self) -> None:
        epoch = self.turn.epoch
        self.turn_rules = self.coming_rules
        self.turn = Turn(self.turn_rules, kind_of=kind_of)
        self.turn.resume(self.holder, epoch, self.now)
        self.wait_until.clear()
        self.free_epochs.discard(self.epoch - 1)
        if self.holder is not None:
            self.held_since = self.gone_since = self.now

    # ── what must hold ────────────────────────────────────────────────────

    @invariant()
    def what_was_announced_is_what_is(self) -> None:
        assert self.turn.holder == self.holder, "I1"
        assert self.turn.epoch == self.epoch, "I2"
        assert self.turn.waiting == tuple(self.wait_until)

    @invariant()
    def a_free_turn_has_no_line(self) -> None:
        assert self.holder is not None or not self.turn.waiting, "I4"

    @invariant()
    def at_most_one_may_write(self) -> None:
        for actor in ACTORS:
            for epoch in range(self.epoch + 2):
                assert self.may_write(actor, epoch) == (
                    actor == self.holder
                    and (
                        epoch == self.epoch
                        or (epoch == self.epoch - 1 and epoch in self.free_epochs)
                    )
                ), "I1"

    def may_write(self, actor: ActorId, epoch: int) -> bool:
        try:
            self.turn.demand(actor, Epoch(epoch))
        except Forbidden:
            return False
        return True

    def act(self, event: turn_machine.Event) -> list[Effect]:
        effects = self.turn.handle(event, self.now)
        for effect in effects:
            self.hear(effect)
        return effects

    def tick(self) -> None:
        for effect in self.turn.tick(self.now):
            self.hear(effect)
        assert all(until > self.now for until in self.wait_until.values()), "I5"
        if self.holder is not None:
            limit = self.turn_rules.limit_for(kind_of(self.holder))
            assert limit is None or self.now < self.held_since + limit
            assert self.gone_since is None or self.now < self.gone_since + GRACE
        deadline = self.turn.next_deadline()
        assert deadline is None or deadline > self.now

    def hear(self, effect: Effect) -> None:
        match effect:
            case PassTurn(giver, taker, epoch, reason):
                assert giver == self.holder, "I1"
                assert epoch == self.epoch + 1, "I2"
                assert giver != taker or reason is PassReason.SEIZED, "I2"
                if reason in FREEING and self.wait_until:
                    assert taker in self.wait_until, "I6"
                self.turn_rules = self.coming_rules
                self.holder, self.epoch = taker, epoch
                if taker is None:
                    self.free_epochs.add(epoch)
                else:
                    self.wait_until.pop(taker, None)
                self.held_since, self.gone_since = self.now, None
            case AskHolder(holder, asker, answer_by):
                assert holder == self.holder
                assert self.wait_until.setdefault(asker, answer_by) == answer_by
            case Refuse(actor, error):
                if error.code == "ask-refused":
                    del self.wait_until[actor]

    @staticmethod
    def has_passed(effects: list[Effect]) -> bool:
        return any(isinstance(effect, PassTurn) for effect in effects)


EverybodyWantsTheTurn.TestCase.settings = settings(stateful_step_count=40)
TestEverybodyWantsTheTurn = EverybodyWantsTheTurn.TestCase
