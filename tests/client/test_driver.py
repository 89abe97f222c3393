import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeSession
from tests.cli.support.operating import be_known, waiting
from tests.scenarios.attached_link import attach

from holdfast.client.calls import submit
from holdfast.client.driver import attachment_to
from holdfast.model.errors import (
    NotAllowed,
    NotYourTurn,
    OutcomeUnknown,
    UnexpectedMessage,
)
from holdfast.model.inputs import InputKind
from holdfast.wire.messages import Output


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSession]:
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        be_known(Path(folder), monkeypatch)
        session = FakeSession(Path(folder))
        yield session
        session.die()


def test_an_input_without_an_answer_goes_to_the_successor(web: FakeSession) -> None:
    web.is_silent = True

    def replace() -> None:
        web.wait_until(lambda: bool(web.submitted))
        web.die()
        web.is_silent = False
        web.revive()

    replacing = threading.Thread(target=replace)
    replacing.start()

    submit(attachment_to(web.id), InputKind.KEYS, b"once", 9.0)

    replacing.join()
    assert web.typed() == b"once"
    assert [given.sequence for given in web.submitted] == [1, 1]


def test_a_holder_that_goes_at_the_end_leaves_it_unsettled(web: FakeSession) -> None:
    web.is_silent = True

    with pytest.raises(OutcomeUnknown):
        submit(attachment_to(web.id), InputKind.KEYS, b"once", 0.05)


def test_a_holder_that_dies_and_stays_away_leaves_it_unsettled_at_the_deadline(
    web: FakeSession,
) -> None:
    web.is_silent = True

    def die() -> None:
        web.wait_until(lambda: bool(web.submitted))
        web.die()

    dying = threading.Thread(target=die)
    dying.start()

    with pytest.raises(OutcomeUnknown) as unknown:
        submit(attachment_to(web.id), InputKind.KEYS, b"once", 0.5)

    dying.join()
    assert unknown.value.facts["sequence"] == 1


def test_a_refusal_stops_the_rest(web: FakeSession) -> None:
    web.refusal = NotYourTurn("robo", 1)

    with pytest.raises(NotYourTurn):
        submit(attachment_to(web.id), InputKind.KEYS, b"x" * 70_000, 9.0)
    assert len(web.submitted) == 1


def test_who_may_not_attach_is_told_why(web: FakeSession) -> None:
    web.door = NotAllowed("robo", "observe")

    with pytest.raises(NotAllowed):
        attach(attachment_to(web.id))


def test_what_waits_may_be_told_before_the_answer_and_is_not_lost(
    web: FakeSession,
) -> None:
    web.operating.early = [waiting(ticket=1), waiting(ticket=2)]

    link, _ = attach(attachment_to(web.id))

    with link:
        assert [link.receive(5.0), link.receive(5.0)] == web.operating.early


def test_output_before_the_answer_is_an_error(web: FakeSession) -> None:
    web.operating.early = [Output(0, b"x")]

    with pytest.raises(UnexpectedMessage):
        attach(attachment_to(web.id))


def test_nothing_to_send_is_nothing_done(web: FakeSession) -> None:
    assert submit(attachment_to(web.id), InputKind.KEYS, b"", 9.0) is None
    assert web.attaches == []
