"""The session's own holder decides whether it is reaped, in one step."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.core.session.idle_sessions import Action, Reap, Reason
from holdfast.host.reaper import committed
from holdfast.model.errors import HoldfastError, SessionInUse
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def reap(session: SessionId, looked_at: float | None = None) -> str:
    due = Reap(session, Action.END, 5.0, Reason.IDLE_WINDOW)
    at = time.monotonic() if looked_at is None else looked_at
    return asyncio.run(committed(due, at, is_capsule=False))


def has_ended(here: Machine, session: SessionId) -> bool:
    facts = here.facts(session)
    return facts is not None and facts["exit"] is not None


def test_somebody_attached_keeps_it_and_nobody_does_not(here: Machine) -> None:
    session = here.new("cat")
    client = here.join(session)

    with pytest.raises(SessionInUse, match="attached"):
        reap(session)
    assert not has_ended(here, session)

    client.close()

    def is_reaped() -> bool:
        try:
            return reap(session) == ""
        except HoldfastError:
            return False

    eventually("it is reaped", is_reaped)
    eventually("it has ended", lambda: has_ended(here, session))


def test_who_only_watches_does_not_keep_it(here: Machine) -> None:
    session = here.new("cat")
    here.join(session, mode=wire.Mode.OBSERVE)

    assert reap(session) == ""

    eventually("it has ended", lambda: has_ended(here, session))


def test_what_was_printed_since_the_look_keeps_it(here: Machine) -> None:
    session = here.new("sh", "-c", "sleep 0.5; echo late; exec cat")
    looked_at = time.monotonic()
    watching = here.join(session, mode=wire.Mode.OBSERVE)
    watching.wait_output(b"late")

    with pytest.raises(SessionInUse, match="printed"):
        reap(session, looked_at)


def test_a_program_that_runs_keeps_it(here: Machine) -> None:
    session = here.new("sleep", "1000")

    with pytest.raises(SessionInUse, match="job"):
        reap(session)


def test_a_kept_session_is_kept(here: Machine) -> None:
    session = here.new("cat")
    assert here.ask(do="keep", id=session, keep=True)["ok"]

    with pytest.raises(SessionInUse, match="kept"):
        reap(session)
