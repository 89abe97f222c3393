"""A session that was lost is listed on the page, and started again from there."""

import os
import signal
from pathlib import Path

import pytest
from tests.scenarios.leftovers import left_over
from tests.scenarios.losing import is_alive
from tests.scenarios.support import eventually
from tests.web.browsing import DESKTOP, PHONE, Browser, Wishes
from tests.web.world import World

from holdfast.linux.stored import recovery_places
from holdfast.model.ids import SessionId

SIZES = pytest.mark.parametrize(
    "size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"]
)


def lose(here: World, session: SessionId) -> None:
    """Lose all but the host and its relay, once it is on record what was started."""
    status = here.status()
    with here.inhabited():
        facts = Path(recovery_places.path_of(session, recovery_places.FACTS))
        eventually("it is on record", facts.exists)
    found = left_over(here.folder, "HOLDFAST_RUNTIME_DIR")
    ours = [one for one in found if one not in (status["pid"], status["relay"])]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for one in ours:
            os.kill(one, number)
    eventually("they are gone", lambda: not any(map(is_alive, ours)))


@SIZES
def test_a_button_starts_it_again_and_a_label_says_so(
    chromium: Browser, here: World, size: Wishes
) -> None:
    page = chromium.page("anna", size)
    page.join(here.invite("--as", f"anna-{len(size)}", "--can", "+create"))
    name = f"lost-{len(size)}"
    session = SessionId(here.new("sh", "-c", "exec sleep 600", name=name))
    page.see(f".session-name:text-is('{name}')")

    lose(here, session)

    page.see(".session.lost .chip:text-is('lost')")
    page.press("Recover")
    page.see(f"h1:text-is('{name}')")
    page.see(".session-bar .chip:text-is('reconstructed')")
    page.see_printed("Gone: the processes")
    page.do("click", "[aria-label='All sessions']")
    page.see(".session .chip:text-is('reconstructed')")
    [listed] = here.facts("ls")["sessions"]
    assert (listed["id"], listed["incarnation"]) == (session, 2)


def test_who_may_start_nothing_has_no_button(chromium: Browser, here: World) -> None:
    page = chromium.page("otto", DESKTOP)
    page.join(here.invite("--as", "otto", "--can", "observe"))
    session = SessionId(here.new("sh", "-c", "exec sleep 600", name="seen"))

    lose(here, session)

    page.see(".session.lost .chip:text-is('lost')")
    assert page.do("evaluate", "document.querySelectorAll('.lost button').length") == 0
    here.do("recover", "--forget", "seen")
