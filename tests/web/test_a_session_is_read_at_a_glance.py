"""The list, the session and the terminal say the same, and nothing hides anything."""

import json

import pytest
from tests.web.browsing import DESKTOP, PHONE, Browser, Page
from tests.web.world import World

POLICY = '[[rule]]\nname = "ask"\nverdict = "ask"\nkind = "agent"\n'

OVERLAPS = """(() => {
  const parts = [...document.querySelectorAll(
    '.session-bar h1, .session-bar .chip, .session-bar .turn, .session-bar button,'
    + ' .session-bar a')].filter((one) => one.checkVisibility());
  const boxes = parts.map((one) => one.getBoundingClientRect());
  const found = [];
  boxes.forEach((one, at) => boxes.slice(at + 1).forEach((other, later) => {
    const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (wide > 1 && high > 1)
      found.push([parts[at].textContent, parts[at + 1 + later].textContent]);
  }));
  const bar = document.querySelector('.session-bar');
  if (bar.scrollWidth > innerWidth) found.push('it is too wide');
  return found;
})()"""

SIZE = """(() => {
  const screen = document.querySelector('.xterm-screen').getBoundingClientRect();
  return [screen.width, document.querySelectorAll('.xterm-rows > div').length];
})()"""

ALL_PANELS = ("People", "Approvals", "Commands", "Processes", "Logbook")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("prompt", "true"),
        ("busy", "sleep 1000"),
        ("asks", "read -p 'Publish? ' x"),
        ("hides", "read -sp 'Password: ' x"),
    ],
)
def test_list_and_session_use_the_word_that_state_prints(
    chromium: Browser, here: World, name: str, line: str
) -> None:
    here.shell(name)
    here.types(name, line)
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", f"anna-{name}"))
    word = json.loads(here.do("state", "--json", name))["state"]

    page.see(f".session:has-text('{name}') .chip:text-is('{word}')")
    page.open(name)
    page.see(f".session-bar .chip:text-is('{word}')")


@pytest.mark.parametrize("width", [1920, 1280, 1024, 780, 390, 360])
def test_nothing_in_the_header_overlaps_while_an_approval_waits(
    chromium: Browser, here: World, width: int
) -> None:
    name = f"a-session-with-quite-a-long-name-{width}"
    agent = "an-agent-with-quite-a-long-name-too"
    here.policy(POLICY)
    here.shell(name)
    here.types(name, "read -p 'Publish? ' x")
    here.run("operators", "add", agent, "--kind", "agent")
    here.do("--as", agent, "take", name)
    size = {"viewport": {"width": width, "height": 800}}
    page = chromium.page("anna", size if width > 400 else {**PHONE, **size})
    page.join(here.invite("--as", f"anna-{width}"))
    page.open(name)
    page.see(".session-bar .chip:text-is('waiting-for-input')")
    page.see("text=has the turn")
    waiting = here.asks(name, "yes", "send", agent)

    page.see("text=waits for approval")
    assert page.do("evaluate", OVERLAPS) == []
    here.do("end", name)
    waiting.wait(20)


def test_seize_is_there_only_while_somebody_else_has_the_turn(
    chromium: Browser, here: World
) -> None:
    here.shell("nobodys")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-nobodys"))
    page.open("nobodys")

    page.see("button:text-is('Take')")
    assert not page.do("isVisible", "button:text-is('Seize')")
    here.do("take", "nobodys")
    page.see("button:text-is('Seize')")
    page.press("Seize")
    page.see("text=You have the turn")
    assert not page.do("isVisible", "button:text-is('Seize')")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"])
def test_a_panel_resizes_nothing(
    chromium: Browser, here: World, size: dict[str, object]
) -> None:
    name = f"same-size-{len(size)}"
    here.shell(name)
    page = chromium.page("anna", size)
    page.join(here.invite("--as", f"anna-{name}"))
    page.open(name)
    page.press("Take")
    page.see("text=You have the turn")
    settled(page)
    before = page.do("evaluate", SIZE)
    resizes = here.do("log", name).count("resized the terminal")

    for panel in ALL_PANELS:
        page.panel(panel)
        settled(page)
        assert page.do("evaluate", SIZE) == before
        page.do("click", "[aria-label='Close the panel']")
        page.lose(".panel")
    assert here.do("log", name).count("resized the terminal") == resizes


def settled(page: Page) -> None:
    """Wait for longer than a page waits before it gives a session a size."""
    page.do("evaluate", "new Promise((done) => setTimeout(done, 400))")
