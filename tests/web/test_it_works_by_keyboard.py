"""Whoever has no mouse gets everywhere, and is never left nowhere."""

import pytest
from tests.web.browsing import DESKTOP, PHONE, Browser, Page
from tests.web.world import World

POLICY = '[[rule]]\nname = "ask"\nverdict = "ask"\nkind = "agent"\ninput = "command"\n'

WHERE = """(() => {
  const at = document.activeElement;
  return at === document.body ? '' : (at.ariaLabel ?? at.textContent.trim());
})()"""

UNNAMED = """[...document.querySelectorAll('button, a, input, [tabindex="0"]')]
  .filter((one) => one.checkVisibility())
  .filter((one) => {
    const named = one.ariaLabel ?? one.title ?? '';
    const label = one.labels?.[0]?.textContent ?? '';
    return (named + label + one.textContent).trim() === '';
  })
  .map((one) => one.outerHTML.slice(0, 80))"""


def opened(chromium: Browser, here: World, name: str) -> Page:
    here.shell(name)
    page = chromium.page("anna", {**DESKTOP, "colorScheme": "dark"})
    page.join(here.invite("--as", f"anna-{name}"))
    page.open(name)
    page.do("focus", ".xterm-helper-textarea")
    return page


def stops(page: Page, count: int) -> list[str]:
    """Return what the focus comes to when Tab is pressed so many times."""
    found = []
    for _ in range(count):
        page.do("keyboard.press", "Tab")
        found.append(page.do("evaluate", WHERE))
    return found


def is_at(page: Page, selector: str) -> None:
    page.wait(f"document.activeElement.matches({selector!r})")


def test_tab_goes_through_the_head_in_the_order_that_is_read(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "order")
    page.do("keyboard.press", "Shift+F6")
    is_at(page, "[aria-label='All sessions']")

    assert stops(page, 8) == [
        "Take",
        *("People1", "Approvals", "Commands", "Processes", "Logbook"),
        *("Find", "More"),
    ]
    assert page.do("evaluate", UNNAMED) == []


def test_the_list_is_walked_and_a_session_entered_by_keyboard(
    chromium: Browser, here: World
) -> None:
    here.shell("walked")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-walked", "--session", "walked"))
    page.see('.session-name:text-is("walked")')
    assert page.do("evaluate", UNNAMED) == []

    page.do("focus", "button:text-is('Forget')")
    page.do("keyboard.press", "Tab")
    is_at(page, "a.session")
    page.do("keyboard.press", "Enter")
    page.see('.screen[data-painted="true"]')
    is_at(page, ".xterm-helper-textarea")


def test_a_panel_takes_the_focus_and_gives_it_back(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "panel")
    page.do("focus", "[data-panel=people]")

    page.do("keyboard.press", "Enter")
    is_at(page, ".panel-body")
    page.see(".person-row")
    page.do("keyboard.press", "Escape")
    page.lose(".panel")
    is_at(page, "[data-panel=people]")
    page.do("keyboard.press", "Shift+F6")
    is_at(page, ".xterm-helper-textarea")


def test_the_menu_is_walked_with_arrows_and_left_with_escape(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "menu")
    here.do("take", "menu")
    page.see("button:text-is('Seize')")
    page.do("focus", "[aria-label='More ways to seize']")

    page.do("keyboard.press", "Enter")
    is_at(page, "[role=menuitem]:first-child")
    page.do("keyboard.press", "ArrowUp")
    page.wait(f"{WHERE} === 'Seize and interrupt'")
    page.do("keyboard.press", "ArrowDown")
    page.wait(f"{WHERE} === 'Seize and freeze'")
    page.do("keyboard.press", "Escape")
    page.lose("[role=menu]")
    is_at(page, "[aria-label='More ways to seize']")


def test_a_dialog_keeps_the_focus_and_gives_it_back(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "dialog")
    page.print_link("https://a.example/", "PRESS")
    page.press_printed("PRESS")
    page.see("dialog[open]")
    page.wait(f"{WHERE} === 'Stay here'")

    assert set(stops(page, 3)) <= {"Open", "Stay here", ""}
    page.wait("document.querySelector('main').matches(':not(:focus-within)')")
    page.do("keyboard.press", "Escape")
    page.lose("dialog")
    is_at(page, ".xterm-helper-textarea")


def test_whoever_decides_by_keyboard_is_left_in_the_panel(
    chromium: Browser, here: World
) -> None:
    here.policy(POLICY)
    page = opened(chromium, here, "decides")
    agent = here.asks("decides", "true")
    page.see("text=waits for approval")

    page.do("focus", "button:text-is('Review')")
    page.do("keyboard.press", "Enter")
    is_at(page, ".panel-body")
    page.do("focus", "button:text-is('Deny')")
    page.do("keyboard.press", "Enter")
    page.see("text=Nothing waits for approval")
    is_at(page, ".panel-body")
    agent.wait(20)


def test_whoever_takes_the_turn_by_keyboard_can_type_at_once(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "types")

    page.do("focus", "button:text-is('Take')")
    page.do("keyboard.press", "Enter")
    page.see("text=You have the turn")
    is_at(page, ".xterm-helper-textarea")
    page.type("echo typed-$((1+1))\n")
    page.see_printed("typed-2")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"])
def test_what_thaws_a_session_hands_the_focus_on(
    chromium: Browser, here: World, size: dict[str, object]
) -> None:
    name = f"thawed-{len(size)}"
    here.shell(name)
    here.do("freeze", name)
    page = chromium.page("anna", size)
    page.join(here.invite("--as", f"anna-{name}"))
    page.open(name)

    page.do("focus", "button:text-is('Thaw')")
    page.do("keyboard.press", "Enter")
    page.lose(".frozen")
    # A phone would bring up its keyboard over half the picture.
    place = ".xterm-helper-textarea" if size is DESKTOP else ".session-bar a"
    is_at(page, place)
