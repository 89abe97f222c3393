"""Questions and policies, short to write."""

from typing import Any

from holdfast.core.policy.policy import Judgement, Policy, judge
from holdfast.core.policy.policy_file import read_policy
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, Question

SESSION = SessionId("s_" + "a" * 16)
BOT = Actor(actor_id(b"bot"), ActorKind.AGENT, "bot")
ANN = Actor(actor_id(b"ann"), ActorKind.HUMAN, "Ann")
NOON = LocalTime(minute=720, weekday=0)


def question(payload: bytes = b"", **members: Any) -> Question:  # noqa: ANN401  # whichever are of interest
    given: dict[str, Any] = {
        "actor": BOT,
        "kind": InputKind.COMMAND,
        "payload": payload,
        "session": SESSION,
        "session_name": "build",
        "clock": NOON,
        "cwd": "/src",
        "staged": b"",
        "shell": "bash",
    }
    return Question(**{**given, **members})


def policy(text: str) -> Policy:
    return read_policy(text.encode())


def said(text: str, payload: bytes = b"", **members: Any) -> tuple[str, str]:  # noqa: ANN401  # as above
    judgement = judge(policy(text), question(payload, **members))
    return verdict_and_rule(judgement)


def verdict_and_rule(judgement: Judgement) -> tuple[str, str]:
    return judgement.verdict.value, judgement.rule
