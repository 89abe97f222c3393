from tests.cli.support.operating import US, waiting

from holdfast.client.attachment import WITHDRAWING, Attachment
from holdfast.client.patience import TAKING_PATIENCE, Patience
from holdfast.model.ids import ClientId, SessionId
from holdfast.wire.messages import Deny

SESSION = SessionId("s_" + "a" * 16)
CLIENT = ClientId("c_" + "a" * 16)


def held() -> Attachment:
    view = Attachment(SESSION, CLIENT)
    view.us = US
    view.heard(waiting(actor=US))
    return view


def test_what_waits_for_nobody_has_its_own_time() -> None:
    patience = Patience(5)

    assert patience.look(Attachment(SESSION, CLIENT), 4) == []
    assert patience.deadline == 5


def test_an_approval_is_waited_for_longer_than_the_terminal() -> None:
    patience, view = Patience(5, 30), held()

    assert patience.look(view, 0) == []
    assert patience.deadline == 5
    assert patience.look(view, 29) == []
    assert patience.deadline == 29 + TAKING_PATIENCE


def test_what_nobody_approves_is_taken_back_once() -> None:
    patience, view = Patience(5, 30), held()
    patience.look(view, 1)

    assert patience.look(view, 31) == [Deny(3, waiting().digest)]
    assert patience.deadline == 31 + WITHDRAWING
    assert patience.look(view, 32) == []
