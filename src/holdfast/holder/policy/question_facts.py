"""The facts in every question to the policy: who, what, where and when."""

from functools import partial

from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.local_time import local_time
from holdfast.model.actors import Actor
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Question


def question_about(
    descriptors: SessionDescriptors, actor: Actor, kind: InputKind, payload: bytes
) -> partial[Question]:
    """Return a question that lacks only what is special about it."""
    return partial(
        Question,
        actor=actor,
        kind=kind,
        payload=payload,
        session=descriptors.session,
        session_name=descriptors.first_name,
        clock=local_time(),
    )
