"""axe finds nothing serious in any view, dark or light, on a desk or on a phone."""

import pytest
from tests.web.browsing import DESKTOP, PHONE, Browser, Wishes
from tests.web.world import World

LOOKS = pytest.mark.parametrize(
    "look",
    [
        {**size, "colorScheme": scheme}
        for size in (DESKTOP, PHONE)
        for scheme in ("dark", "light")
    ],
    ids=["a desk, dark", "a desk, light", "a phone, dark", "a phone, light"],
)

POLICY = '[[rule]]\nname = "ask"\nverdict = "ask"\nkind = "agent"\ninput = "command"\n'
PANELS = ("People", "Approvals", "Commands", "Processes", "Logbook")


def named(look: Wishes) -> str:
    return f"{look['viewport']['width']}-{look['colorScheme']}"


@LOOKS
def test_joining_and_the_list(chromium: Browser, here: World, look: Wishes) -> None:
    here.shell("living")
    here.new("true", name="ended")
    page = chromium.page("anna", look)
    page.goto(here.url)
    page.see("text=No host yet")
    assert page.do("axe") == []

    page.goto(here.invite("--as", f"anna-{named(look)}", "--can", "+create"))
    page.see(".facts")
    assert page.do("axe") == []
    page.press("Join this host")
    page.see(".session .chip:text-is('at-prompt')")
    assert page.do("axe") == []
    page.press("New session")
    page.see("dialog[open]")
    assert page.do("axe") == []


@LOOKS
def test_a_session_with_each_panel(
    chromium: Browser, here: World, look: Wishes
) -> None:
    name = f"seen-{named(look)}"
    here.policy(POLICY)
    here.shell(name)
    here.types(name, "false")
    agent = here.asks(name, "true")
    page = chromium.page("anna", look)
    page.join(here.invite("--as", f"anna-{name}"))
    page.open(name)
    page.see("text=waits for approval")
    assert page.do("axe") == []

    for panel in PANELS:
        page.panel(panel)
        page.see(".panel-body > :not(.nothing)")
        assert page.do("axe") == [], panel
        page.do("click", "[aria-label='Close the panel']")
    page.press("More")
    assert page.do("axe") == [], "the menu"
    page.do("keyboard.press", "Escape")
    page.choose("Freeze")
    page.see(".frozen")
    assert page.do("axe") == [], "frozen"
    here.do("thaw", name)
    here.do("end", name)
    agent.wait(20)
    page.see("text=This session has ended")
    assert page.do("axe") == [], "ended"
