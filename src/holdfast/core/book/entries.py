"""The logbook entry of each kind of act.

The words here are read again by holdfast.core.book.inheritance and by verifiers
of an export; docs/spec/logbook.md lists them. A field once given keeps
its meaning.
"""

import base64
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.core.input.refusal_counter import Tell
from holdfast.core.input.serializer import CutReport
from holdfast.core.input.turn import PassTurn
from holdfast.core.policy.exec_gate import Wish
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, rights_from
from holdfast.model.errors import HoldfastError, PolicyUnavailable
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.inputs import Input, InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.intents import Intend
from holdfast.wire.lines import Value

Fields = dict[str, Value]

MAX_PROGRAM = 1024
"""Characters kept of what was to be executed: enough to know it by."""

MAX_ORIGINATORS = 16
"""Operators named as those who staged something; a line must not be too long."""

MAX_RULE = 200
"""Characters kept of a rule's name: a policy must not make a line too long."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Why an input may happen: what the policy said, by which rule, and who agreed."""

    verdict: Verdict
    rule: str
    approver: ActorId | None = None
    originators: Sequence[ActorId] = ()
    """The others who staged what it runs, if there are any."""

    policy: str = ""
    """The digest of the policy that said so; empty if that is not known."""

    actions: tuple[str, ...] = ()
    """The kinds of action of its commands, if they can be told."""


def who(given: Input, kind: ActorKind) -> Fields:
    """Say whose input it is, and what sort of operator that is."""
    return {
        "actor": given.actor,
        "actor_kind": str(kind),
        "client": given.id.client,
        "sequence": given.id.sequence,
    }


def input_fields(
    given: Input, kind: ActorKind, admitted: Admission, secret_key: bytes | None
) -> Fields:
    """Say what was admitted, by which verdict and rule, and who approved it.

    With a `secret_key` the bytes are not written down, only their length and a
    hash that means nothing without the key.
    """
    fields: Fields = {
        **who(given, kind),
        "input": str(given.kind),
        "size": len(given.payload),
        "seen": given.seen,
        "verdict": str(admitted.verdict),
        "rule": admitted.rule[:MAX_RULE],
        "policy": admitted.policy or None,
        "approver": admitted.approver,
    }
    if admitted.originators:
        fields["originators"] = ",".join(admitted.originators[:MAX_ORIGINATORS])
    if admitted.actions and secret_key is None:
        fields["action"] = "\n".join(admitted.actions)
    if secret_key is not None:
        fields["secret"] = hmac.digest(secret_key, given.payload, "sha256").hex()
    else:
        fields["data"] = base64.b64encode(given.payload).decode()
    return fields


def is_secret(given: Input, *, echo_off: bool) -> bool:
    """Tell whether the bytes of an input must not be written down."""
    return echo_off or given.kind is InputKind.ANSWER


def binding(given: Input, secret_key: bytes) -> bytes:
    """Return what an approval of this input is bound to.

    An approver of an answer must not be able to guess it from that.
    """
    if given.kind is InputKind.ANSWER:
        return hmac.digest(secret_key, given.digest(), "sha256")
    return given.digest()


def refused_fields(
    given: Input,
    kind: ActorKind,
    verdict: Verdict | None,
    error: HoldfastError,
    policy: str = "",
    actions: tuple[str, ...] = (),
) -> Fields:
    """Say whose input was refused, and by what; by which rule, if by one.

    Without a verdict nobody asked the policy: something else was in the way. Of a
    session that was not started the whole book says what it was to run.
    """
    rule = error.facts.get("rule")
    if isinstance(error, PolicyUnavailable):
        verdict = Verdict.DENY  # No answer means no.
    fields: Fields = {
        **who(given, kind),
        "code": error.code,
        "verdict": None if verdict is None else verdict.value,
        "rule": None if rule is None else str(rule)[:MAX_RULE],
        "policy": policy or None,
    }
    if actions:
        fields["action"] = "\n".join(actions)
    if given.kind is InputKind.START:
        fields["input"] = given.kind.value
        fields["data"] = base64.b64encode(given.payload).decode()
    return fields


def intended_fields(actor: ActorId, said: Intend) -> Fields:
    """Say what an operator means by what it does next."""
    return {
        "actor": actor,
        "act": said.act,
        "intent": said.intent,
        "effect": said.effect,
        "parameters": said.parameters,
        "prompt": said.prompt,
        "expects": said.expects,
        "idempotent": said.idempotent,
        "attempt": said.attempt,
    }


def declined_fields(told: Tell) -> Fields:
    """Say whose requests were turned away, what they were, and how many."""
    return {
        "actor": told.actor,
        "request": told.request,
        "code": told.code,
        "count": told.count,
    }


def exec_fields(
    wish: Wish, error: HoldfastError | None, by: ActorId | None, count: int
) -> Fields:
    """Record what an operator's process wanted to execute, and the outcome."""
    rule = None if error is None else error.facts.get("rule")
    return {
        "actor": wish.actor,
        "pid": wish.mark[0],
        "program": wish.program[:MAX_PROGRAM],
        "text": wish.text[:MAX_PROGRAM],
        "as": "approved" if error is None else "refused",
        "code": None if error is None else error.code,
        "rule": None if rule is None else str(rule)[:MAX_RULE],
        "by": by,
        "count": count,
    }


def asked_fields(ticket: int, actor: ActorId, rule: str, report: str = "") -> Fields:
    """Say what waits for approval, by which rule, and what was told of a preview."""
    fields: Fields = {"ticket": ticket, "actor": actor, "rule": rule}
    return {**fields, "preview": report} if report else fields


def answered_fields(ticket: int, by: ActorId, *, yes: bool) -> Fields:
    """Say how an operator answered what waited for approval."""
    return {"ticket": ticket, "by": by, "yes": yes}


def cut_fields(report: CutReport) -> Fields:
    """Say how much was thrown away."""
    return {"dropped_inputs": report.inputs, "dropped_bytes": report.bytes}


def turn_fields(passed: PassTurn, report: CutReport) -> Fields:
    """Say between whom the turn passed, why, and what was thrown away."""
    return {
        "from": passed.giver,
        "to": passed.taker,
        "reason": passed.reason.value,
        **cut_fields(report),
    }


def granted_fields(actor: ActorId, envelope: Envelope, by: ActorId) -> Fields:
    """Say what was granted to whom, until when, and by whom."""
    expires = envelope.expires_wall
    return {
        "actor": actor,
        "by": by,
        "rights": ",".join(sorted(envelope.rights)),
        "scope": envelope.session,
        "expires": None if expires is None else round(expires * 1000),
    }


def granted_envelope(fields: Mapping[str, Value]) -> Envelope:
    """Read an envelope back from what `granted_fields` wrote."""
    words = str(fields["rights"])
    scope, expires = fields["scope"], fields["expires"]
    return Envelope(
        rights_from(filter(None, words.split(","))),
        None if scope is None else SessionId(str(scope)),
        None if expires is None else int(expires) / 1000,
    )
