"""A link that was begun early is gone on with: nothing is said or heard twice."""

from collections.abc import Iterator

import pytest
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import FakeSession

from holdfast.client import early_session
from holdfast.client.connection import Connection
from holdfast.client.early_session import EarlySession
from holdfast.model.errors import SessionUnreachable
from holdfast.wire.messages import Attach, Attached, Mode, Output


@pytest.fixture
def early(web: FakeSession) -> Iterator[EarlySession]:  # noqa: F811
    """Return a session that was reached early, and attached to."""
    made = EarlySession("it", web.id, "web")
    assert made.reach(made.attach("observe"))
    web.wait_until(lambda: bool(web.attaches))
    early_session.keep(made)
    yield made
    early_session.forget()


def attach(early: EarlySession, mode: Mode = Mode.OBSERVE) -> Attach:
    return Attach(
        session=early.id,
        client=early.client,
        mode=mode,
        size=None,
        incarnation=None,
        after=None,
        keyframe=False,
    )


def test_what_was_said_early_is_not_said_again_and_what_was_heard_is_heard(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    early.receive()  # ATTACHED is heard before the rest is loaded.

    with Connection.open(web.id) as link:
        assert not early.is_linked
        link.send(attach(early))
        heard = link.receive(5)
        web.prints(b"later")
        said = link.receive(5)

    assert isinstance(heard, Attached)
    assert said == Output(0, b"later")
    assert len(web.attaches) == 1


def test_who_wants_to_say_something_else_than_was_said_is_not_believed(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    with Connection.open(web.id) as link, pytest.raises(SessionUnreachable) as refused:
        link.send(attach(early, Mode.OPERATE))

    assert "something else" in str(refused.value)
    assert len(web.attaches) == 1


def test_another_link_to_the_same_session_is_a_new_one(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    with Connection.open(web.id) as first, Connection.open(web.id) as second:
        first.send(attach(early))
        second.send(attach(early, Mode.OPERATE))
        assert isinstance(second.receive(5), Attached)

    assert [one.mode for one in web.attaches] == [Mode.OBSERVE, Mode.OPERATE]


def test_a_link_that_was_hung_up_is_opened_anew(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    early.hang_up()

    with Connection.open(web.id) as link:
        link.send(attach(early))
        assert isinstance(link.receive(5), Attached)

    assert len(web.attaches) == 2


def test_a_session_that_nobody_holds_is_said_so_with_the_reason(
    web: FakeSession,  # noqa: F811
) -> None:
    web.die()

    with pytest.raises(SessionUnreachable) as refused:
        Connection.open(web.id)
    assert "No such file" in str(refused.value)


def test_nothing_within_the_time_is_no_message(web: FakeSession) -> None:  # noqa: F811
    with Connection.open(web.id) as link:
        assert link.receive(0) is None
        assert link.receive(0.01) is None
        assert not link.pending
