from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)

from holdfast.core.input.gate import (
    MAX_PENDING,
    Abandoned,
    Admit,
    Approved,
    Consult,
    CutShort,
    Denied,
    Effect,
    Event,
    Gate,
    GateRules,
    Judged,
    PolicyFailed,
    Preview,
    Previewed,
    Refuse,
    Reject,
    SeekApproval,
    Submitted,
)
from holdfast.model.errors import TurnMoved
from holdfast.model.ids import ActorId, Epoch
from holdfast.model.verdicts import Verdict

ACTORS = tuple(ActorId(name) for name in ("anna", "bot", "carl"))
DIGESTS = (b"d" * 32, b"e" * 32)
POLICY_TIMEOUT, APPROVAL_TIMEOUT, PREVIEW_TIMEOUT = 2.0, 10.0, 4.0
RULES = GateRules(POLICY_TIMEOUT, APPROVAL_TIMEOUT, PREVIEW_TIMEOUT)

actors = st.sampled_from(ACTORS)
digests = st.sampled_from(DIGESTS)
flaws = st.sampled_from(("none", "digest", "epoch"))
epochs = st.sampled_from((None, Epoch(1), Epoch(2)))


@dataclass
class Act:
    """One ticket, and everything that was said about it."""

    submitted: Submitted
    dies_at: float
    verdict: Verdict | None = None
    approvals: int = 0
    failed: bool = False
    fate: Admit | Reject | None = None


class EverybodyAnswersEverything(RuleBasedStateMachine):
    """Answers come late, twice, from the wrong people and about the wrong bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.gate = Gate(RULES)
        self.acts: dict[int, Act] = {}

    @rule(actor=actors, epoch=epochs, digest=digests)
    def an_act_wants_to_pass(
        self, actor: ActorId, epoch: Epoch | None, digest: bytes
    ) -> None:
        number = len(self.acts) + 1
        submitted = Submitted(number, actor, epoch, digest)
        self.acts[number] = Act(submitted, self.now + POLICY_TIMEOUT)
        effects = self.act(submitted)
        assert effects in ([Consult(number)], [self.acts[number].fate])

    @precondition(lambda self: bool(self.acts))
    @rule(data=st.data(), verdict=st.sampled_from((*Verdict, Verdict.ASK)))
    def the_policy_answers(self, data: st.DataObject, verdict: Verdict) -> None:
        self.judge(self.some(data), verdict)

    def judge(self, act: Act, verdict: Verdict) -> None:
        if act.verdict is None and not act.failed and act.fate is None:
            act.verdict = verdict
            if verdict is Verdict.ASK:
                act.dies_at = self.now + APPROVAL_TIMEOUT
            elif verdict is Verdict.PREVIEW:
                act.dies_at = self.now + PREVIEW_TIMEOUT
        self.act(Judged(act.submitted.ticket, verdict, "rule"))

    @precondition(lambda self: bool(self.acts))
    @rule(data=st.data())
    def a_preview_is_over(self, data: st.DataObject) -> None:
        act = self.some(data, Verdict.PREVIEW)
        counts = act.fate is None and act.verdict is Verdict.PREVIEW
        effects = self.act(Previewed(act.submitted.ticket, "report"))
        assert bool(effects) == counts
        assert act.verdict is not Verdict.PREVIEW or act.fate is not None

    @precondition(lambda self: bool(self.acts))
    @rule(data=st.data())
    def the_policy_crashes(self, data: st.DataObject) -> None:
        act = self.some(data)
        act.failed = act.failed or (act.verdict is None and act.fate is None)
        self.act(PolicyFailed(act.submitted.ticket, "crashed"))
        waits = act.verdict in (Verdict.ASK, Verdict.PREVIEW)
        assert act.fate is not None or waits, "I6"

    @precondition(lambda self: bool(self.acts))
    @rule(
        data=st.data(),
        approver=actors,
        flaw=flaws,
    )
    def an_operator_approves(
        self, data: st.DataObject, approver: ActorId, flaw: str
    ) -> None:
        self.approves(self.some(data, Verdict.ASK), approver, flaw)

    # Without it few stories would come to an approval at all.
    @rule(actor=actors, epoch=epochs, approver=actors, flaw=flaws)
    def an_act_is_asked_about(
        self, actor: ActorId, epoch: Epoch | None, approver: ActorId, flaw: str
    ) -> None:
        self.an_act_wants_to_pass(actor, epoch, DIGESTS[0])
        act = self.acts[len(self.acts)]
        if act.fate is None:
            self.judge(act, Verdict.ASK)
            self.approves(act, approver, flaw)

    def approves(self, act: Act, approver: ActorId, flaw: str) -> None:
        given = act.submitted
        digest = b"other" if flaw == "digest" else given.digest
        epoch = Epoch(9) if flaw == "epoch" else given.epoch
        waits = act.fate is None and act.verdict is Verdict.ASK
        counts = waits and approver != given.actor and flaw == "none"
        act.approvals += counts
        effects = self.act(Approved(given.ticket, approver, digest, epoch))
        admitted = any(isinstance(effect, Admit) for effect in effects)
        assert not admitted or approver != given.actor, "I2"
        assert not admitted or flaw == "none", "I3"
        assert admitted == counts
        assert admitted or any(isinstance(effect, Refuse) for effect in effects)

    @precondition(lambda self: bool(self.acts))
    @rule(data=st.data(), approver=actors)
    def an_operator_denies(self, data: st.DataObject, approver: ActorId) -> None:
        act = self.some(data, Verdict.ASK)
        waits = act.fate is None and act.verdict is Verdict.ASK
        self.act(Denied(act.submitted.ticket, approver))
        assert not waits or isinstance(act.fate, Reject)

    @precondition(lambda self: bool(self.acts))
    @rule(data=st.data())
    def the_asker_is_gone(self, data: st.DataObject) -> None:
        act = self.some(data, Verdict.ASK)
        waits = act.fate is None and act.verdict is Verdict.ASK
        effects = self.act(Abandoned(act.submitted.ticket))
        assert bool(effects) == waits
        assert not waits or isinstance(act.fate, Reject)

    @rule()
    def the_turn_is_cut_short(self) -> None:
        self.act(CutShort(TurnMoved("anna", 2)))
        for act in self.acts.values():
            assert act.fate is not None or act.submitted.epoch is None, "I4"

    @rule(seconds=st.sampled_from((0.5, 1.0, POLICY_TIMEOUT, APPROVAL_TIMEOUT)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.hear(self.gate.tick(self.now))

    @rule()
    def the_process_is_replaced(self) -> None:
        # The successor counts from one again: its tickets are new acts.
        self.gate = Gate(RULES)
        self.acts.clear()

    @invariant()
    def every_act_is_settled_in_bounded_time(self) -> None:
        for act in self.acts.values():
            assert act.fate is not None or self.now < act.dies_at, "I5"
        open_acts = [act for act in self.acts.values() if act.fate is None]
        deadline = min((act.dies_at for act in open_acts), default=None)
        assert self.gate.next_deadline() == deadline, "I5"

    @invariant()
    def nobody_fills_the_gate(self) -> None:
        for actor in ACTORS:
            mine = [
                act
                for act in self.acts.values()
                if act.fate is None and act.submitted.actor == actor
            ]
            assert len(mine) <= MAX_PENDING

    @invariant()
    def what_is_pending_was_asked_about(self) -> None:
        assert [ticket.number for ticket in self.gate.pending()] == [
            number
            for number, act in self.acts.items()
            if act.fate is None and act.verdict is Verdict.ASK
        ]

    def some(self, data: st.DataObject, verdict: Verdict | None = None) -> Act:
        # Mostly one to which an answer matters: the others soon outnumber them.
        numbers = [
            number
            for number, act in self.acts.items()
            if act.fate is None and act.verdict is verdict
        ]
        if not numbers or data.draw(st.integers(0, 3)) == 0:
            numbers = list(self.acts)
        return self.acts[data.draw(st.sampled_from(numbers))]

    def act(self, event: Event) -> list[Effect]:
        effects = self.gate.handle(event, self.now)
        self.hear(effects)
        return effects

    def hear(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Admit(ticket, _, approver):
                    act = self.settle(ticket, effect)
                    assert not act.failed, "I6"
                    if act.verdict is Verdict.ALLOW:
                        assert approver is None
                    else:
                        assert act.verdict is Verdict.ASK, "I1"
                        assert act.approvals, "I1"
                case Reject(ticket, error):
                    self.settle(ticket, effect)
                    assert error.code
                case SeekApproval(ticket, actor, epoch, digest, _):
                    given = self.acts[ticket].submitted
                    assert (actor, epoch) == (given.actor, given.epoch), "I3"
                    assert digest == given.digest, "I3"
                    if self.acts[ticket].verdict is Verdict.PREVIEW:
                        self.acts[ticket].verdict = Verdict.ASK
                        self.acts[ticket].dies_at = self.now + APPROVAL_TIMEOUT
                case Consult() | Preview() | Refuse():
                    pass

    def settle(self, ticket: int, fate: Admit | Reject) -> Act:
        act = self.acts[ticket]
        assert act.fate is None, "I5"
        act.fate = fate
        return act


EverybodyAnswersEverything.TestCase.settings = settings(stateful_step_count=40)
TestEverybodyAnswersEverything = EverybodyAnswersEverything.TestCase
