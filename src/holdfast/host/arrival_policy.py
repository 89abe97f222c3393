"""What the policy of this host says to a session that another host wants to bring.

Asked before anything is stopped there, with what is known then: who brings it, its
command, its folder, whether its execs are judged. Rules, plug-ins and webhook are asked
as they are when it begins here, and again then, since things may change meanwhile.
"""

from holdfast.core.policy import applied_policy
from holdfast.core.policy.policy import (
    Judgement,
    Policy,
    combined,
    document,
    without_exec_gate,
)
from holdfast.core.policy.policy_file import read_policy
from holdfast.core.policy.session_start import judge_start
from holdfast.host.guests import Guest, wall
from holdfast.host.offered_start import question_about
from holdfast.linux import packets
from holdfast.linux.judge_packets import MAX_PACKET, NOTHING_VOUCHED, Answer, Ask
from holdfast.linux.stored import places, policy_files
from holdfast.model.envelopes import Right, standing_to_create
from holdfast.model.errors import HoldfastError, PolicyTampered
from holdfast.model.session_requests import OfferMove
from holdfast.model.verdicts import Verdict

PATIENCE = 1.9
"""Seconds for plug-ins and webhook: the judge gives up after 1.75."""

UNAVAILABLE = "policy-unavailable"
"""The rule that is named when somebody who has to be asked does not answer."""


def verdict_on(guest: Guest, asked: OfferMove) -> Judgement:
    """Return what the policy would say if the session were brought now.

    Raises:
        UsageError: What it names is no session.

    """
    policy, vouched = _in_force()
    question, further = question_about(guest, asked)
    if not asked.exec_gate and (lacking := without_exec_gate(policy, question)):
        return lacking
    known = guest.enrolled
    said = judge_start(
        policy,
        question,
        standing_to_create(known.actor.kind, known.promised, wall()),
        is_gated=asked.exec_gate,
        is_brought=known.may_on_host(Right.MOVE),
        further=further if asked.exec_gate else (),
    )
    is_denied = said.verdict is Verdict.DENY and not said.by_default
    if is_denied or not (policy.plugins or policy.webhook):
        return said
    ask = Ask(1, document(question), policy.plugins, policy.webhook, vouched=vouched)
    answer = _answer_of_judge(ask)
    if answer.failed:
        return Judgement(Verdict.DENY, UNAVAILABLE, f"the policy {answer.failed}")
    return combined(said, answer.judgement)


def _in_force() -> tuple[Policy, str]:
    """Return the policy that was applied, and the digest of its plug-ins."""
    try:
        applied = policy_files.load(policy_files.seal_key())
        return read_policy(applied.text), applied.plugins or NOTHING_VOUCHED
    except PolicyTampered as error:
        return applied_policy.closed(Policy(), str(error)), NOTHING_VOUCHED


def _answer_of_judge(ask: Ask) -> Answer:
    """Return what plug-ins and webhook say, or why they say nothing."""
    raw = ask.to_bytes()
    try:
        with packets.connect(places.judge_socket(), PATIENCE) as link:
            if len(raw) > MAX_PACKET or not packets.is_ours(link):
                return Answer(ask.ticket, failed=f"cannot ask its judge ({ask.whom})")
            link.send(raw)
            return Answer.from_bytes(link.recv(MAX_PACKET))
    except (OSError, HoldfastError):
        return Answer(ask.ticket, failed=f"got no answer from its judge ({ask.whom})")
