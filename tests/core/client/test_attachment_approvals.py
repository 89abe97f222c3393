import pytest
from tests.cli.support.operating import waiting
from tests.core.client.test_attachment import (
    CLIENT,
    OTHER,
    SESSION,
    US,
    attached,
    refuse,
    view,
)

from holdfast.core.client.attachment import Attachment
from holdfast.model.errors import ApprovalTimeout, DeniedByOperator, NotYourTurn
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.messages import Deny, Settled


def test_what_of_ours_waits_for_approval_is_known_until_it_is_settled() -> None:
    view = Attachment(SESSION, CLIENT, bytes(32))
    view.heard(attached())
    view.us = US
    ours, theirs = waiting(actor=US, ticket=3), waiting(actor=OTHER, ticket=4)

    view.heard(theirs)
    view.heard(Settled(3, Verdict.ALLOW, OTHER))
    assert view.pending is None
    view.heard(ours)
    view.heard(Settled(4, Verdict.ALLOW, OTHER))
    assert view.pending == ours
    view.heard(Settled(3, Verdict.ALLOW, OTHER))
    assert view.pending is None


def test_what_was_taken_back_is_refused_for_want_of_an_answer() -> None:
    view = Attachment(SESSION, CLIENT, bytes(32))
    view.heard(attached())
    view.us = US
    assert view.withdraw(1) == []
    view.submit(InputKind.KEYS, b"x")
    view.heard(ours := waiting(actor=US, ticket=3))

    assert view.withdraw(7) == [Deny(3, ours.digest)]
    answer = view.answered(refuse(DeniedByOperator(US), 1))

    assert answer is not None
    assert isinstance(answer[1], ApprovalTimeout)
    assert answer[1].facts["seconds"] == 7


def test_what_we_denied_ourselves_and_did_not_take_back_was_denied() -> None:
    ours = view()
    ours.submit(InputKind.KEYS, b"x")

    answer = ours.answered(refuse(DeniedByOperator(US), 1))

    assert answer is not None
    assert isinstance(answer[1], DeniedByOperator)


def test_what_was_refused_for_another_reason_has_that_reason() -> None:
    ours = view()
    ours.submit(InputKind.KEYS, b"x")
    ours.heard(waiting(actor=US, ticket=3))
    ours.withdraw(7)
    ours.us = None

    answer = ours.answered(refuse(NotYourTurn("robo", 1), 1))

    assert answer is not None
    assert isinstance(answer[1], NotYourTurn)


@pytest.mark.parametrize("waited", [None, 7.0])
def test_what_somebody_else_denied_was_denied(waited: float | None) -> None:
    view = Attachment(SESSION, CLIENT, bytes(32))
    view.heard(attached())
    view.us = US
    view.submit(InputKind.KEYS, b"x")
    view.heard(waiting(actor=US, ticket=3))
    if waited is not None:
        view.withdraw(waited)

    answer = view.answered(refuse(DeniedByOperator(OTHER), 1))

    assert answer is not None
    assert isinstance(answer[1], DeniedByOperator)


def test_what_waits_is_told_of_once_however_often_it_is_heard() -> None:
    told: list[int] = []
    view = Attachment(SESSION, CLIENT, bytes(32))
    view.us = US
    view.held = lambda pending: told.append(pending.ticket)

    for ticket in (3, 3, 4):
        view.heard(waiting(ticket=ticket, actor=US))

    assert told == [3, 4]
