"""`keep` leaves an ended session in the list; without it, seeing the end removes it."""

import time
from collections.abc import Iterator

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios import witness
from tests.scenarios.support import Machine, machine

from holdfast.core.session.expired_records import KEEP_FOR
from holdfast.host.expired_records import clear_away
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        try:
            yield made
        finally:
            witness.end_marked()


@pytest.mark.parametrize("kept", [True, False])
def test_who_sees_it_end_removes_it_unless_it_is_kept(
    here: Machine, *, kept: bool
) -> None:
    session = here.new("cat")
    user = User("attach", session)
    user.sees(b"[holdfast]")
    if kept:
        assert here.ask(do="keep", id=session, keep=True)["ok"]

    user.types(b"\x04")

    assert user.left() == 0
    user.close()
    assert (here.facts(session) is not None) == kept


@pytest.mark.parametrize("kept", [True, False])
def test_a_day_later_only_a_kept_one_is_listed(here: Machine, *, kept: bool) -> None:
    session = here.new("cat")
    here.ask(do="keep", id=session, keep=kept)
    keys = here.join(session)
    keys.enter(b"\x04")
    keys.wait(wire.Exited)

    clear_away(time.time() + KEEP_FOR + 60)  # noqa: TID251  # the wall clock of records

    assert (here.facts(session) is not None) == kept
