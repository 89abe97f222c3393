"""A keeper whose holders, nurseries and clock do the worst they can."""

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.keeper import upgrade as up

SESSIONS = ("a", "b", "c")


class Keeper(RuleBasedStateMachine):
    """Plays everything around the machine: who holds what, and of which code."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.upgrade = up.Upgrade(list(SESSIONS), self.now)
        self.held: dict[str, up.Side | None] = dict.fromkeys(SESSIONS, up.Side.OLD)
        self.leaving: set[str] = set()
        self.proving: set[str] = set()
        self.proven: set[str] = set()
        self.is_checking = False
        self.nurseries = {up.Side.OLD, up.Side.NEW}
        self.is_replaced = False
        self.is_refused = False
        self.waiting: dict[str, up.Side] = {}
        """Of which code the successor is that waits for a grip."""

    def do(  # noqa: C901  # one case for each effect
        self, effects: list[up.Effect]
    ) -> None:
        for effect in effects:
            match effect:
                case up.AskToLeave(session):
                    assert all(self.held[one] for one in self.leaving), "I1"
                    self.leaving = {session}
                    self.waiting[session] = self.upgrade.side_of(session)
                    if self.held[session] is None:
                        self.tell(up.Left(session))
                case up.KillSuccessor(session):
                    assert self.held[session] is not None, "it has been left"
                    self.waiting.pop(session, None)
                case up.KillHolder(session):
                    self.held[session] = None
                    self.waiting.pop(session, None)
                    self.leaving = {session}
                    self.tell(up.Left(session))
                case up.AskProof(session):
                    self.proving.add(session)
                case up.CheckState():
                    self.is_checking = True
                case up.EndNursery(side):
                    self.nurseries.discard(side)
                case up.ReplaceKeeper():
                    self.is_replaced = True
                case up.Refuse():
                    self.is_refused = True
                case up.Tell():
                    pass

    def tell(self, event: up.Event) -> None:
        self.do(self.upgrade.handle(event, self.now))

    # Mostly: before that, there is not much that can go wrong.
    @initialize(is_ready=st.sampled_from((True, True, True, False)))
    def begin(self, *, is_ready: bool) -> None:
        if is_ready:
            self.nursery_is_ready()

    @precondition(lambda self: self.upgrade.phase is up.Phase.STARTING)
    @rule()
    def nursery_is_ready(self) -> None:
        self.tell(up.NurseryReady())

    @precondition(lambda self: not self.upgrade.is_over)
    @rule()
    def new_nursery_dies(self) -> None:
        self.tell(up.NurseryFailed("has died"))

    @precondition(lambda self: any(self.held[one] for one in self.leaving))
    @rule()
    def holder_leaves(self) -> None:
        (session,) = self.leaving
        self.die(session)

    @rule(session=st.sampled_from(SESSIONS))
    def holder_is_killed(self, session: str) -> None:
        if self.held[session] is not None:
            self.die(session)

    def die(self, session: str) -> None:
        self.held[session] = None
        self.proving.discard(session)
        self.tell(up.Left(session))

    @precondition(lambda self: None in self.held.values())
    @rule(data=st.data())
    def successor_comes(self, data: st.DataObject) -> None:
        session = data.draw(
            st.sampled_from([one for one in SESSIONS if self.held[one] is None])
        )
        side = self.waiting.pop(session, self.upgrade.side_of(session))
        if self.upgrade.phase is up.Phase.RETURNING and session in self.leaving:
            assert side is up.Side.OLD, "I3"
        self.held[session] = side
        self.proven.discard(session)
        self.leaving.discard(session)
        self.tell(up.Deposited(session))

    @precondition(lambda self: None in self.held.values() or self.waiting)
    @rule(data=st.data())
    def successor_is_born_dead(self, data: st.DataObject) -> None:
        empty = {one for one in SESSIONS if self.held[one] is None}
        session = data.draw(st.sampled_from(sorted(empty | self.waiting.keys())))
        self.waiting.pop(session, None)
        self.tell(up.BornDead(session))

    @precondition(lambda self: bool(self.proving))
    @rule(data=st.data())
    def holder_proves_itself(self, data: st.DataObject) -> None:
        session = data.draw(st.sampled_from(sorted(self.proving)))
        self.proving.discard(session)
        self.proven.add(session)
        self.tell(up.Proven(session))

    @precondition(lambda self: self.is_checking)
    @rule(good=st.booleans())
    def check_ends(self, *, good: bool) -> None:
        self.is_checking = False
        if good:
            assert self.upgrade.phase is not up.Phase.CHECKING or all(
                self.upgrade.side_of(one) is up.Side.NEW for one in SESSIONS
            ), "I2"
        self.tell(up.StateRead() if good else up.StateUnread("no"))

    @rule()
    def time_passes(self) -> None:
        deadline = self.upgrade.next_deadline()
        if deadline is not None:
            self.now = max(self.now, deadline)
            if self.upgrade.phase is up.Phase.RETURNING:
                self.leaving.clear()  # I1: nobody waits for it any longer.
            self.do(self.upgrade.tick(self.now))

    @invariant()
    def it_is_replaced_or_refused_and_not_both(self) -> None:
        assert not (self.is_replaced and self.is_refused)
        assert self.upgrade.is_over == (self.is_replaced or self.is_refused)

    @invariant()
    def there_is_always_one_nursery_and_it_is_the_right_one(self) -> None:
        if self.is_replaced:
            assert self.nurseries == {up.Side.NEW}, "I2"
        if self.is_refused:
            assert self.nurseries == {up.Side.OLD}, "I3"
            assert all(self.upgrade.side_of(one) is up.Side.OLD for one in SESSIONS)

    def teardown(self) -> None:
        for _ in range(40):
            self.time_passes()
        assert self.upgrade.is_over, "I4"


TestKeeper = Keeper.TestCase
