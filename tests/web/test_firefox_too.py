"""The page works in Debian's Firefox too: join, type, look, hand back."""

import pytest
from tests.web.firefox import ENTER, firefox, what_is_missing
from tests.web.world import World

pytestmark = pytest.mark.skipif(what_is_missing() != "", reason=what_is_missing())


def test_a_session_is_joined_and_driven_from_firefox(here: World) -> None:
    here.shell("foxes")
    with firefox() as page:
        page.size(1280, 800)
        page.goto(here.invite("--as", "anna-fox"))
        page.press("Join this host")
        page.see("a.session")
        page.evaluate("document.querySelector('a.session').click()")
        page.see(".screen[data-painted='true']")

        page.type(f"echo fox-$((1+1)){ENTER}")
        page.see_printed("fox-2")
        page.wait("document.body.innerText.includes('You have the turn')")
        page.evaluate("document.querySelector('[data-panel=commands]').click()")
        page.see(".block.is-done")
        page.press("More")
        page.see("[role=menu]")
        page.press("Drop")
        page.wait("document.body.innerText.includes('The turn is free')")
        # The panel covers part of the terminal, and resizes nothing.
        page.wait("document.querySelector('.xterm-screen').offsetWidth > 1100")
        assert page.errors == []
