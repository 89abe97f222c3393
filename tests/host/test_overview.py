"""What an operator learns of the sessions here at one look."""

import asyncio
import os
from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import current_operator
from holdfast.host import overview
from holdfast.host.guests import Guest
from holdfast.host.overview import MAX_LINE, MAX_SURVEYED, Overview
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.session_record import SessionRecord
from holdfast.wire import messages as wire
from holdfast.wire.host_requests import Packet

ASKS = "stty -echo; echo; echo Password:; read x"
CALM = "printf 'one\\n\\033[2Jall is \\033[31mwell\\n\\n'; exec sleep 600"


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def anna(here: Machine) -> Guest:
    del here
    return Guest(current_operator.ourselves())


def listed(here: Machine, *sessions: SessionId) -> list[SessionRecord]:
    found = [here.facts(session) for session in sessions]
    return [SessionRecord.from_facts(one) for one in found if one is not None]


def look(guest: Guest, sessions: list[SessionRecord]) -> dict[object, Packet]:
    found = asyncio.run(Overview().of(guest, sessions))
    return {one["id"]: one for one in found}


def test_who_calls_for_somebody_needs_them_more_than_who_waits_for_input(
    here: Machine, anna: Guest
) -> None:
    calls, waits = here.new("sh", "-c", "printf '\\a'; sleep 600"), here.new("cat")

    def is_seen() -> bool:
        seen = look(anna, listed(here, waits, calls))
        needs = [(one["id"], one["needs"]) for one in seen.values()]
        return needs == [(calls, "attention"), (waits, "input")]

    eventually("the one that calls is first", is_seen)


def test_what_needs_somebody_comes_first_and_each_says_what_it_does(
    here: Machine, anna: Guest
) -> None:
    calm, asks = here.new("sh", "-c", CALM), here.new("sh", "-c", ASKS)
    other = here.join(calm, "bert")
    other.send(wire.Take())

    def is_seen() -> bool:
        seen = look(anna, listed(here, calm, asks))
        return (
            [*seen] == [asks, calm]
            and seen[asks]["needs"] == "secret"
            and seen[calm]["last_line"] == "all is well"
            and seen[calm]["turn"] is not None
        )

    eventually("all is seen", is_seen)
    found = look(anna, listed(here, calm, asks))
    assert found[asks]["state"] == "waiting-for-secret"
    assert found[calm]["needs"] == ""
    (present,) = found[calm]["here"]
    assert (present["name"], present["kind"]) == ("bert", "human")
    assert found[calm]["turn"] == present
    assert (found[calm]["count"], found[calm]["pending"]) == (1, 0)
    assert (found[calm]["waiting"], found[calm]["frozen"]) == (0, False)
    assert (found[asks]["turn"], found[asks]["here"]) == (None, [])


def test_whoever_may_look_is_told_that_it_stands_still(here: Machine) -> None:
    calm = here.new("sh", "-c", CALM)
    bot = current_operator.enrol("looker", ActorKind.AGENT)
    here.join(calm).send(wire.Freeze())
    eventually(
        "it stands", lambda: look(Guest(bot), listed(here, calm))[calm]["frozen"]
    )

    (found,) = look(Guest(bot), listed(here, calm)).values()
    assert (found["name"], found["count"]) == (calm[2:8], 1)


def test_a_session_that_is_gone_or_over_is_told_of_without_a_look(anna: Guest) -> None:
    over = SessionRecord(SessionId("s_" + "b" * 16), "b", exit=3, created_ms=2)
    gone = SessionRecord(SessionId("s_" + "c" * 16), "c", created_ms=1)
    old = SessionRecord(SessionId("s_" + "d" * 16), "d")

    found = look(anna, [old, gone, over])

    assert [one["name"] for one in found.values()] == ["b", "c", "d"]
    assert [one["exit"] for one in found.values()] == [3, None, None]
    assert {one["needs"] for one in found.values()} == {""}
    assert {one["last_line"] for one in found.values()} == {""}


def test_of_very_many_only_the_newest_are_looked_into(
    here: Machine, anna: Guest
) -> None:
    asks = here.new("sh", "-c", ASKS)
    (own,) = listed(here, asks)
    eventually("it asks", lambda: look(anna, [own])[asks]["needs"])
    others = [
        SessionRecord(SessionId(f"s_{number:016}"), exit=0, created_ms=number)
        for number in range(MAX_SURVEYED)
    ]
    oldest = look(anna, [own._replace(created_ms=-1), *others])
    newest = look(anna, [own._replace(created_ms=MAX_SURVEYED), *others])

    assert len(oldest) == len(newest) == MAX_SURVEYED + 1
    assert (oldest[asks]["state"], oldest[asks]["needs"]) == (own.state, "")
    assert newest[asks]["needs"] == "secret"


def test_an_answer_is_good_for_a_moment_and_for_its_asker(
    anna: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [SessionRecord(SessionId("s_" + "b" * 16), exit=0)]
    bert = Guest(current_operator.enrol("bertram", ActorKind.HUMAN))

    async def ask() -> list[int]:
        kept = Overview()
        counts = [len(await kept.of(anna, first))]
        counts += [len(await kept.of(anna, []))]
        counts += [len(await kept.of(bert, []))]
        monkeypatch.setattr(overview, "FRESH", 0.0)
        await asyncio.sleep(0.01)
        return [*counts, len(await kept.of(anna, []))]

    assert asyncio.run(ask()) == [1, 1, 0, 0]


def test_who_asks_meanwhile_waits_and_begins_anew_if_the_first_gives_up(
    here: Machine, anna: Guest
) -> None:
    sessions = listed(here, here.new("sleep", "600"))

    async def ask() -> tuple[list[Packet], list[Packet]]:
        kept = Overview()
        async with asyncio.TaskGroup() as group:
            first = group.create_task(kept.of(anna, sessions))
            await asyncio.sleep(0)
            second = group.create_task(kept.of(anna, []))
            third = await kept.of(anna, [])
            assert third is await second is await first
        kept = Overview()
        async with asyncio.TaskGroup() as group:
            first = group.create_task(kept.of(anna, sessions))
            await asyncio.sleep(0)
            second = group.create_task(kept.of(anna, []))
            await asyncio.sleep(0)
            first.cancel()
        return third, second.result()

    shared, anew = asyncio.run(ask())
    assert len(shared) == 1
    assert anew == []


def test_a_last_line_is_short_and_has_no_controls(here: Machine, anna: Guest) -> None:
    session = here.new("sh", "-c", "printf %0500d 7; exec sleep 600")

    def last() -> str:
        return str(look(anna, listed(here, session))[session]["last_line"])

    eventually("it is shown", lambda: last().endswith("7") or len(last()) > 1)
    assert 0 < len(last()) <= MAX_LINE
    assert os.linesep not in last()
