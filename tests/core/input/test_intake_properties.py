from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from tests.core.intake_world import (
    AIDE,
    ANNA,
    APPROVAL,
    BOT,
    EVE,
    GRACE,
    POLICY,
    RIGHTS,
    TTL,
    Key,
    World,
)

from holdfast.core.input import gate, turn
from holdfast.core.relay.lease import Granted, SelfFence, host_span
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation
from holdfast.model.inputs import Input, InputId, InputKind

actors = st.sampled_from((ANNA, BOT, BOT, AIDE, EVE))
DISASTERS = (0, 1, 2, 3, 4, 5, "now", "torn", "host", "host and page")
STAGES = ("judging", "asking", "storing", "writing", "partly", "syncing")
MIDDLE_DEEDS = ("seize", "freeze", "revoke", "grant", "sleep", "refuse", "approve")
DEEDS = ("revoke", "regrant", "come", "go", "freeze")


class EverythingHappensAtOnce(World):
    """Operators, a policy, a disk, a terminal and a killer, all with bad timing."""

    @initialize(
        default=st.sampled_from(turn.AskDefault),
        leased=st.booleans(),
        pace=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    )
    def begin(
        self, pace: tuple[bool, bool, bool], default: turn.AskDefault, *, leased: bool
    ) -> None:
        self.start(default, leased=leased)
        self.fast_disk, self.quick_policy, self.quick_terminal = pace

    # Without quick ones most stories would end before a byte is written.
    @rule(disk=st.booleans(), policy=st.booleans(), terminal=st.booleans())
    def the_pace_changes(self, *, disk: bool, policy: bool, terminal: bool) -> None:
        self.fast_disk, self.quick_policy, self.quick_terminal = disk, policy, terminal
        self.do([])

    # ── what operators do ─────────────────────────────────────────────────

    @rule(sizes=st.lists(st.sampled_from((1, 3)), min_size=1, max_size=3))
    def the_holder_types(self, sizes: list[int]) -> None:
        if self.lease is not None:
            self.the_lease_is_renewed()
        if self.truth.frozen:
            self.something_else_happens(ANNA, "freeze")
        for size in sizes:
            holder = self.intake.turn.holder or BOT
            self.sends(holder, size, 0, InputKind.KEYS)

    @rule(
        actor=actors,
        size=st.sampled_from((1, 3)),
        behind=st.sampled_from((0, 1)),
        kind=st.sampled_from((InputKind.KEYS, InputKind.ANSWER)),
        life=st.sampled_from((0, 0, 0, 1)),
    )
    def sends(
        self, actor: ActorId, size: int, behind: int, kind: InputKind, life: int = 0
    ) -> None:
        client = ClientId(f"c_{actor}_{self.life}_{self.clients[actor]}")
        mine = [known for _, known in self.truth.sent if known.client == client]
        known = InputId(client, len(mine) + 1)
        epoch = Epoch(max(0, self.intake.turn.epoch - behind))
        made_in = Incarnation(self.life - life)
        given = Input(known, actor, kind, made_in, epoch, bytes(size))
        self.truth.sent[actor, known] = given
        self.open.add((actor, known))
        self.do(self.intake.submit(given, self.at))

    @precondition(lambda self: bool(self.truth.sent))
    @rule(data=st.data())
    def repeats(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.truth.sent)))
        self.open.add(key)
        self.do(self.intake.submit(self.truth.sent[key], self.at))

    @rule(actor=actors, other=actors, what=st.integers(0, 6))
    def moves_the_turn(self, actor: ActorId, other: ActorId, what: int) -> None:
        events: tuple[turn.Event, ...] = (
            turn.Took(actor),
            turn.AskedFor(actor, 3.0),
            turn.Gave(actor, other),
            turn.Dropped(actor),
            turn.Answered(actor, other, granted=True),
            turn.Answered(actor, other, granted=False),
            turn.Seized(actor),
        )
        self.do(self.intake.request(events[what], self.at))

    @rule()
    def anna_seizes(self) -> None:
        epoch = self.intake.turn.epoch + 1
        waiting = set(self.open)
        if self.do(self.intake.seize(ANNA, self.at)):
            self.truth.seized = (ANNA, epoch)
            assert not waiting & self.waiting(), "serializer I3"
            assert self.intake.turn.holder == ANNA, "I4"

    @rule(actor=actors, what=st.sampled_from(DEEDS))
    def something_else_happens(self, actor: ActorId, what: str) -> None:
        match what:
            case "come":
                self.do(self.intake.attach(actor, "c", self.at))
            case "go":
                self.do(self.intake.detach(actor, "c", last=True, at=self.at))
            case "freeze" if self.truth.frozen:
                self.truth.frozen = False
                self.do(self.intake.thaw(ANNA, self.at))
            case "freeze":
                waiting = set(self.open)
                self.truth.frozen = self.do(self.intake.freeze(ANNA, self.at))
                assert not waiting & self.waiting(), "I3"
            case _ if actor != ANNA:
                self.granted[actor] = frozenset()
                self.do(self.intake.revoke(actor, ANNA, self.at))
                if what == "regrant":
                    envelope = Envelope(RIGHTS[actor])
                    self.granted[actor] = envelope.rights
                    self.do(self.intake.grant(actor, envelope, ANNA, self.at))

    # ── what the policy and the approvers answer ──────────────────────────

    @precondition(lambda self: bool(self.tickets))
    @rule(data=st.data(), word=st.sampled_from(("allow", "ask", "ask", "deny", "x")))
    def the_policy_answers(self, data: st.DataObject, word: str) -> None:
        self.policy_says(self.draw_ticket(data, "open"), word)

    @precondition(lambda self: bool(self.tickets))
    @rule(
        data=st.data(),
        by=actors,
        no=st.sampled_from((0, 0, 1)),
        wrong=st.integers(0, 3),
    )
    def somebody_answers(
        self, data: st.DataObject, by: ActorId, no: int, wrong: int
    ) -> None:
        number = self.draw_ticket(data, "ask")
        ticket = self.tickets[number]
        if no:
            self.do(self.intake.deny(gate.Denied(number, by), self.at))
            if Right.APPROVE in self.rights_of(by) or by == ticket.given.actor:
                ticket.word = "deny" if ticket.word == "ask" else ticket.word
            return
        self.answers(number, by, wrong)

    def answers(self, number: int, by: ActorId, wrong: int) -> None:
        ticket = self.tickets[number]
        digest = b"" if wrong == 1 else ticket.given.digest()
        epoch = Epoch(ticket.epoch - 1) if wrong == 2 else ticket.epoch
        entitled = Right.APPROVE in self.rights_of(by) and by != ticket.given.actor
        if ticket.word == "ask" and entitled and wrong not in (1, 2):
            self.truth.allowed.add((ticket.given.actor, ticket.given.id))
        self.do(self.intake.approve(gate.Approved(number, by, digest, epoch), self.at))

    # ── what the disk and the terminal do ─────────────────────────────────

    @precondition(lambda self: self.storing is not None)
    @rule()
    def the_disk_takes_the_line(self) -> None:
        self.store_line()

    @precondition(lambda self: self.storing is not None)
    @rule()
    def the_disk_refuses(self) -> None:
        self.storing = None
        self.do(self.intake.store_failed("full", self.at))

    @precondition(lambda self: self.can_write())
    @rule(whole=st.booleans())
    def the_terminal_takes_bytes(self, *, whole: bool) -> None:
        self.write_bytes(whole=whole)

    @precondition(lambda self: bool(self.syncing))
    @rule(fails=st.sampled_from((False,) * 9 + (True,)))
    def the_disk_syncs(self, *, fails: bool) -> None:
        if fails:
            self.syncing.clear()
            self.do(self.intake.sync_failed("EIO", self.at))
        else:
            self.sync()

    # ── all of it, where it hurts ─────────────────────────────────────────

    @rule(
        stage=st.sampled_from(STAGES),
        deed=st.sampled_from(MIDDLE_DEEDS),
        death=st.sampled_from((None, 0, 1, 2, "now", "host")),
        recovers=st.booleans(),
    )
    def it_happens_in_the_middle(
        self, stage: str, deed: str, death: int | str | None, *, recovers: bool
    ) -> None:
        self.quick_policy = stage not in {"judging", "asking"}
        self.fast_disk = stage != "storing"
        self.quick_terminal = stage not in {"writing", "partly"}
        self.the_holder_types([3, 3])
        if stage == "partly" and self.can_write():
            self.write_bytes(whole=False)
        if stage == "asking" and self.tickets:
            self.policy_says(max(self.tickets), "ask")
        self.fast_disk = False
        if isinstance(death, int):
            self.fuse = death
        self.deed(deed)
        if isinstance(death, str):
            self.disaster_strikes(death)
        if recovers:
            self.the_pace_changes(disk=True, policy=True, terminal=True)

    def everybody_approves(self) -> None:
        tries = ((BOT, 0), (AIDE, 1), (ANNA, 2), (EVE, 0), (AIDE, 0), (ANNA, 0))
        for by, flaw in tries:
            if self.tickets:
                self.answers(max(self.tickets), by, flaw)

    def deed(self, deed: str) -> None:
        match deed:
            case "seize":
                self.anna_seizes()
            case "grant":
                self.do(self.intake.grant(ANNA, Envelope(RIGHTS[ANNA]), ANNA, self.at))
            case "sleep":
                self.now += TTL
            case "approve":
                self.everybody_approves()
            case "refuse":
                if self.storing is not None:
                    self.the_disk_refuses()
            case _:
                self.something_else_happens(self.intake.turn.holder or BOT, deed)

    # ── what time and the killer do ───────────────────────────────────────

    @rule(seconds=st.sampled_from((1.0, POLICY, GRACE)), looks=st.booleans())
    def time_passes(self, seconds: float, *, looks: bool) -> None:
        self.now += seconds
        if looks:
            self.look_at_the_clock()

    @precondition(lambda self: self.lease is not None)
    @rule()
    def the_lease_is_renewed(self) -> None:
        assert self.lease is not None
        said = self.lease.handle(Granted(self.life, TTL, self.now), self.now)
        self.expires_at = self.now + host_span(TTL)
        if any(isinstance(effect, SelfFence) for effect in said):
            self.do(self.intake.fenced(self.at))

    @rule(what=st.sampled_from(DISASTERS))
    def disaster_strikes(self, what: int | str) -> None:
        match what:
            case "host":
                self.the_host_dies(0)
            case "host and page":
                self.the_host_dies(400)
            case "torn" if self.storing is not None:
                self.truth.file += self.storing.line[:150]
                self.wake()
            case int():
                self.fuse = what
            case _:
                self.wake()

    # ── what must hold ────────────────────────────────────────────────────

    @invariant()
    def what_was_announced_is_what_is(self) -> None:
        assert (self.intake.turn.holder, self.intake.turn.epoch) == self.hands, "I1"

    def waiting(self) -> set[Key]:
        applied = {
            key
            for key in self.open
            if self.truth.written[key] == len(self.truth.sent[key].payload)
        }
        return self.open - applied

    def teardown(self) -> None:
        if not hasattr(self, "truth"):
            return
        self.fuse = None
        for _ in range(300):
            if self.storing is not None:
                self.store_line()
            elif self.can_write():
                self.write_bytes(whole=True)
            elif self.syncing:
                self.sync()
            elif self.open or self.intake.note().writing is not None:
                self.now += APPROVAL
                self.look_at_the_clock()
            else:
                break
        assert not self.open, "serializer I4"
        self.wake()


EverythingHappensAtOnce.TestCase.settings = settings(
    stateful_step_count=40,
    deadline=None,
    report_multiple_bugs=False,
)
TestEverythingHappensAtOnce = EverythingHappensAtOnce.TestCase
