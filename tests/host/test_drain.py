"""What a drain reports, and what it is asked for."""

import asyncio
import time
from pathlib import Path

import pytest

from holdfast.core.session.drain_order import Drain, Leaving, Way, Wish
from holdfast.host import drain
from holdfast.host.drain import Drainer, way_of, wish_of
from holdfast.host.guests import Guest
from holdfast.linux.stored.service_operators import service
from holdfast.model.envelopes import Right
from holdfast.model.ids import SessionId
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import DrainHost

ONE, TWO = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def guest() -> Guest:
    rights = (Right.OBSERVE, Right.CHECKPOINT, Right.MOVE)
    return Guest(service(drain.NAME, *rights))


def test_a_request_says_where_to_or_leaves_it_to_the_settings() -> None:
    assert wish_of(DrainHost(60)) is None
    assert wish_of(DrainHost(60, "beta")) == Wish("beta")
    assert wish_of(DrainHost(60, "beta", True)) == Wish("beta", only_moves=True)  # noqa: FBT003


def test_a_plain_session_stays_and_is_not_even_asked() -> None:
    record = SessionRecord(ONE, "web", state="running", created_ms=5)

    found = asyncio.run(way_of(guest(), record, Wish()))

    assert found == Leaving(ONE, 5, Way.STAYS, "it is not in a capsule")


def test_a_capsule_whose_holder_does_not_answer_stays_and_says_so() -> None:
    record = SessionRecord(ONE, "web", state="running", runtime="capsule")

    found = asyncio.run(way_of(guest(), record, Wish()))

    assert found.way is Way.STAYS
    assert ONE in found.why


def test_a_drain_without_a_keeper_says_why_nothing_began() -> None:
    async def story() -> Drainer:
        made = Drainer()
        assert not made.report().on
        made.begin(5.0, Wish("beta"))
        assert made.is_on
        made.begin(5.0)  # Once is enough.
        await made.wait()
        return made

    report = asyncio.run(story()).report()

    assert not report.on
    assert "keeper" in report.failed


def test_a_drain_that_is_abandoned_is_waited_for_no_longer() -> None:
    async def story() -> bool:
        made = Drainer()
        made.abandon()
        made.begin(5.0, Wish())
        made.abandon()
        await made.wait()
        return made.is_on

    assert not asyncio.run(story())


def test_what_moved_is_told_apart_from_what_is_on_disk() -> None:
    made = Drainer()
    made._names = {ONE: "web", TWO: "box"}  # noqa: SLF001  # as a drain leaves it
    ways = [Leaving(ONE, 1, Way.MOVE), Leaving(TWO, 2, Way.DISK)]
    made._drain = Drain(ways, time.monotonic() + 60)  # noqa: SLF001  # ditto
    made._drain.begin(time.monotonic())  # noqa: SLF001  # ditto
    assert made.report().leaving == ("web", "box")

    made._drain.gone(ONE, "beta", time.monotonic())  # noqa: SLF001  # ditto
    made._moved.add(ONE)  # noqa: SLF001  # ditto
    made._drain.gone(TWO, f"{TWO}.1", time.monotonic())  # noqa: SLF001  # ditto

    report = made.report()
    assert [(one.name, one.host, one.image) for one in report.left] == [
        ("web", "beta", ""),
        ("box", "", f"{TWO}.1"),
    ]
    assert (report.left_count, report.moved_count, report.stayed_count) == (2, 1, 0)
