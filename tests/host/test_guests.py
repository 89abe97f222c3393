"""Who may come in from elsewhere, for how long, and what is to be done then."""

import os
from pathlib import Path

import pytest

from holdfast.client import current_operator
from holdfast.host import guests
from holdfast.host.guests import Guest
from holdfast.linux.stored import folders, operators
from holdfast.linux.stored.operators import Terms
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import SessionId, actor_id

ONE = SessionId("s_" + "a" * 16)
OTHER = SessionId("s_" + "b" * 16)
HOUR = 3600.0
LOOK = frozenset({Right.OBSERVE})


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def promise(
    number: int, session: SessionId | None = None, expires: float | None = None
) -> bytes:
    """Enrol somebody who was promised to look; return the key."""
    key = bytes([number]) * 32
    terms = Terms("ab", Envelope(LOOK, session, expires))
    operators.enrol(f"guest{number}", ActorKind.AGENT, key, None, b"t" * 32, terms)
    return key


def coming(key: bytes) -> Guest:
    found = guests.guest_of(key)
    assert found is not None
    return found


def refused(guest: Guest, right: Right, session: SessionId | None) -> bool:
    try:
        guest.demand(right, session)
    except NotAllowed as error:
        return error.facts == {"actor": guest.id, "right": right.value}
    return False


def test_a_promise_holds_until_it_runs_out() -> None:
    now = guests.wall()
    for_ever, longer = promise(1), promise(2, expires=now + HOUR)
    over = promise(3, expires=now - 1)

    assert coming(for_ever).id == actor_id(for_ever)
    assert coming(longer).id == actor_id(longer)
    assert guests.guest_of(over) is None
    assert guests.guest_of(bytes(32)) is None
    assert guests.admitted().actors == {actor_id(for_ever), actor_id(longer)}


def test_the_next_promise_to_run_out_is_the_first_that_has_not() -> None:
    now = round(guests.wall())  # A file has whole milliseconds.
    promise(1)
    current_operator.enrol("local", ActorKind.HUMAN)

    assert guests.next_expiry() is None
    promise(2, expires=now - 1)
    assert guests.next_expiry() is None
    promise(3, expires=now + 2 * HOUR)
    promise(4, expires=now + HOUR)
    assert guests.next_expiry() == now + HOUR


def test_a_promise_about_one_session_says_nothing_of_others_or_of_the_host() -> None:
    guest = coming(promise(1, session=ONE))

    assert guest.may(Right.OBSERVE, ONE)
    assert not guest.may(Right.OBSERVE, OTHER)
    assert not guest.may(Right.END, ONE)
    assert guest.may_anything(ONE)
    assert not guest.may_anything(OTHER)
    assert not refused(guest, Right.OBSERVE, ONE)
    assert refused(guest, Right.OBSERVE, OTHER)
    assert refused(guest, Right.OBSERVE, None)


def test_a_promise_about_the_host_is_about_each_session() -> None:
    guest = coming(promise(1, expires=guests.wall() + HOUR))

    assert not refused(guest, Right.OBSERVE, None)
    assert not refused(guest, Right.OBSERVE, OTHER)
    assert refused(guest, Right.CREATE, None)
    assert refused(guest, Right.END, ONE)


def test_what_has_run_out_while_somebody_was_here_is_refused() -> None:
    promise(1, expires=guests.wall() - 1)
    known = operators.by_name("guest1")
    assert known is not None
    guest = Guest(known)

    assert refused(guest, Right.OBSERVE, None)
    assert refused(guest, Right.OBSERVE, ONE)
    assert not guest.may_anything(ONE)


def test_without_a_promise_the_kind_decides() -> None:
    human = Guest(current_operator.enrol("anna", ActorKind.HUMAN))
    agent = Guest(current_operator.enrol("bot", ActorKind.AGENT))

    assert human.may(Right.END, ONE)
    assert not refused(human, Right.CREATE, None)
    assert agent.may(Right.INPUT, ONE)
    assert not agent.may(Right.END, ONE)
    assert refused(agent, Right.CREATE, None)


def test_the_sessions_here_are_those_with_a_socket() -> None:
    folder = Path(folders.sessions_folder())
    for name in (f"{ONE}.sock", f"{ONE}.name", f"{OTHER}.name", "x.sock"):
        (folder / name).touch()

    assert guests.sessions_here() == {ONE}


def test_somebody_who_comes_and_a_session_that_goes_leave_a_trace() -> None:
    folder = Path(folders.sessions_folder())
    for watched in (folders.operators_folder(), folder):
        os.utime(watched, (0, 0))
    before = guests.trace()
    promise(1)
    after = guests.trace()
    (folder / f"{ONE}.sock").touch()

    assert len({before, after, guests.trace()}) == 3
    assert guests.trace() == guests.trace()
