import asyncio
import os
import signal
import time
from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import current_operator
from holdfast.host import overview
from holdfast.host.guests import Guest
from holdfast.host.host_requests import answer
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Terms
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Overview
from holdfast.wire.host_requests import Packet
from holdfast.wire.messages import Take

ASKS = "stty -echo; printf 'Password: '; read word"
HOSTILE = r"printf 'one\ntwo \033]0;x\007\033[31m<b>three\033[0m'; sleep 600"


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def asked(guest: Guest) -> list[Packet]:
    pages = asyncio.run(answer(guest, Overview()))
    return [one for page in pages for one in page["sessions"]]


def sessions(here: Machine) -> list[Packet]:
    listed = here.ask(do="list")["sessions"]
    assert isinstance(listed, list)
    return listed


def waited_for(guest: Guest, session: str, **facts: object) -> Packet:
    def found() -> Packet | None:
        one = next(one for one in asked(guest) if one["id"] == session)
        return one if facts.items() <= one.items() else None

    return eventually(f"an overview with {facts}", found)


def test_sessions_that_wait_for_somebody_come_first(here: Machine) -> None:
    asking = here.new("sh", "-c", ASKS)
    quiet = here.new("sleep", "600")
    us = Guest(current_operator.ourselves())

    waited_for(us, asking, needs="secret", state="waiting-for-secret")

    assert [one["id"] for one in asked(us)] == [asking, quiet]


def test_it_says_who_is_here_and_who_has_the_turn(here: Machine) -> None:
    session = here.new("sleep", "600")
    anna = here.join(session, "anna")
    assert anna.request(Take()) is None

    told = waited_for(Guest(current_operator.ourselves()), session, count=1)

    assert told["turn"]["name"] == told["here"][0]["name"] == "anna"
    assert told["turn"]["kind"] == "human"


def test_the_last_line_is_text_that_nothing_obeys(here: Machine) -> None:
    session = here.new("sh", "-c", HOSTILE)

    told = waited_for(
        Guest(current_operator.ourselves()),
        session,
        last_line="two <b>three",
        hides=False,
    )

    assert told["needs"] == ""


def test_nobody_is_told_of_a_session_that_they_may_not_see(here: Machine) -> None:
    mine, other = here.new("sleep", "600"), here.new("sleep", "600")
    terms = Terms("ab", Envelope(frozenset({Right.OBSERVE}), mine))
    known = operators.enrol("bert", ActorKind.HUMAN, b"k" * 32, None, b"t" * 32, terms)

    told = [one["id"] for one in asked(Guest(known))]

    assert (mine in told, other in told) == (True, False)


def test_a_session_whose_holder_is_stopped_delays_nobody_for_long(
    here: Machine,
) -> None:
    stuck, fine = here.new("sleep", "600"), here.new("sh", "-c", ASKS)
    us = Guest(current_operator.ourselves())
    waited_for(us, fine, state="waiting-for-secret")
    holder = here.pid("holder", stuck)
    os.kill(holder, signal.SIGSTOP)

    begun_at = time.monotonic()
    told = {one["id"]: one for one in asked(us)}
    waited = time.monotonic() - begun_at
    os.kill(holder, signal.SIGCONT)

    assert set(told) == {stuck, fine}
    assert waited < overview.PATIENCE + 10


def test_within_a_moment_the_same_answer_is_good_and_holders_are_left_alone(
    here: Machine,
) -> None:
    here.new("sleep", "600")
    us = Guest(current_operator.ourselves())
    seen = overview.Overview()

    async def story() -> None:
        listed = [SessionRecord.from_facts(one) for one in sessions(here)]
        first, second = await asyncio.gather(seen.of(us, listed), seen.of(us, listed))

        assert first is second

    asyncio.run(story())


def test_whoever_waits_for_another_s_answer_gets_one_if_that_gives_up(
    here: Machine,
) -> None:
    session = here.new("sleep", "600")
    us = Guest(current_operator.ourselves())
    seen = overview.Overview()

    async def story() -> None:
        listed = [SessionRecord.from_facts(one) for one in sessions(here)]
        loop = asyncio.get_running_loop()
        first = loop.create_task(seen.of(us, listed))
        second = loop.create_task(seen.of(us, listed))
        await asyncio.sleep(0)
        first.cancel()

        (told,) = await second
        assert told["id"] == session

    asyncio.run(story())
