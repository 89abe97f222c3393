"""A browser that stands still for a while comes back, and types nothing twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place
from tests.scenarios.relays import Relay, relay
from tests.scenarios.support import eventually
from tests.web.browsing import DESKTOP, PHONE, Browser, Page
from tests.web.world import World

HEARTBEAT = "1"
"""Seconds between two questions of the relay; it gives up after twice as many."""

ROWS = "[...document.querySelectorAll('.xterm-rows > div')]"
COUNTED = f"{ROWS}.filter((row) => row.textContent.startsWith('count-')).length"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    folder = tmp_path_factory.mktemp("relay")
    with relay(folder, "--heartbeat", HEARTBEAT, "--web") as made:
        yield made


@pytest.fixture(scope="module")
def place(impatient: Relay) -> Iterator[Place]:
    made = Place()
    try:
        made.up(impatient.url)
        yield made
    finally:
        made.close()


def attached(chromium: Browser, place: Place, name: str) -> Page:
    place.new("bash", "--norc", name=name)
    page = chromium.page("anna", DESKTOP)
    page.join(place.invite("--as", f"anna-{name}"))
    page.open(name)
    page.enter("PS1='$ '; n=0; clear; echo be''gun")
    page.see_printed("begun")
    return page


def test_a_browser_that_the_relay_has_given_up_comes_back_where_it_was(
    chromium: Browser, impatient: Relay, place: Place
) -> None:
    page = attached(chromium, place, "asleep")
    place.do("seize", "asleep")

    with chromium.suspended():
        eventually(
            "the relay has given it up", lambda: impatient.metrics()["pairs"] == 0
        )
        place.do("send", "--enter", "asleep", "echo mean''while-$((1+1))")
        place.do("drop", "asleep")
    page.see_printed("meanwhile-2")
    page.enter("echo after-$((1+1))")
    page.see_printed("after-2")
    shown = f"{ROWS}.filter((row) => row.textContent.startsWith('meanwhile-2')).length"
    assert page.do("evaluate", shown) == 1


def test_what_was_on_its_way_when_the_browser_fell_asleep_runs_once(
    chromium: Browser, impatient: Relay, place: Place
) -> None:
    page = attached(chromium, place, "onway")
    page.type("n=$((n+1)); echo count-$n.")
    page.do("keyboard.press", "Enter")

    with chromium.suspended():
        eventually(
            "the relay has given it up", lambda: impatient.metrics()["pairs"] == 0
        )
    page.see_printed("count-1.")
    page.enter("echo over-$n.")
    page.see_printed("over-1.")
    assert page.do("evaluate", COUNTED) == 1


def test_an_hour_under_the_lid_is_noticed_and_nothing_runs_twice(
    chromium: Browser, here: World, tmp_path: Path
) -> None:
    here.shell("hour")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-hour"))
    page.do("clock.install")
    page.do("reload")
    page.open("hour")
    page.enter(f"n=0; echo x >> {tmp_path}/ran; echo be''gun")
    page.see_printed("begun")

    here.kill_relay()
    page.enter(f"n=$((n+1)); echo x >> {tmp_path}/ran; echo count-$n.")
    page.do("clock.fastForward", "01:00:00")
    page.see_printed("count-1.")
    page.enter("echo over-$n.")
    page.see_printed("over-1.")
    assert (tmp_path / "ran").read_text() == "x\nx\n"


def test_a_tab_that_the_browser_has_frozen_comes_back(
    chromium: Browser, here: World
) -> None:
    here.shell("tab")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-tab"))
    page.open("tab")

    page.do("devtools", "Page.setWebLifecycleState", {"state": "frozen"})
    here.types("tab", "echo mean''while-$((1+1))")
    here.kill_relay()
    page.do("devtools", "Page.setWebLifecycleState", {"state": "active"})
    page.see_printed("meanwhile-2")
    page.enter("echo after-$((1+1))")
    page.see_printed("after-2")
    assert page.trouble() == []
