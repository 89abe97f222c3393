"""Whoever is gone is still called by name, and a press tells who is behind what."""

from tests.web.browsing import DESKTOP, Browser, Page
from tests.web.world import World

FREE = '[default]\nagent = "allow"\n'


def opened(chromium: Browser, here: World, name: str) -> Page:
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", f"anna-{name}"))
    page.open(name)
    return page


def test_the_logbook_and_the_processes_name_an_agent_that_has_left(
    chromium: Browser, here: World
) -> None:
    here.policy(FREE)
    here.shell("named")
    here.do("--as", "robo", "run", "named", "sleep 301 & true")

    page = opened(chromium, here, "named")
    page.panel("Logbook")
    page.see(".story-line:has(.kind-agent) >> .actor-name:text-is('robo')")
    page.see(".story >> text=/ran sleep 301 & true, status 0, \\d+ m?s/")
    page.panel("Processes")
    page.see(".branch:has-text('sleep 301') >> .actor-name:text-is('robo')")
    page.wait("!document.querySelector('.panel').textContent.includes('a_')")
    assert page.trouble() == []


def test_a_press_on_a_command_or_a_process_tells_who_is_behind_it(
    chromium: Browser, here: World
) -> None:
    here.policy(FREE)
    here.shell("behind")
    here.do("--as", "robo", "run", "behind", "sleep 302 & true")
    page = opened(chromium, here, "behind")

    page.panel("Logbook")
    page.do("click", ".link:has-text('sleep 302')")
    page.see(".story .blame >> text=/Command \\d+, entered by/")
    page.see(".story .blame:has-text('sleep 302') >> .actor-name:text-is('robo')")
    page.panel("Processes")
    page.do("click", ".branch .link:has-text('sleep 302')")
    page.see(".tree .blame:has-text('sleep 302 & true') >> .actor-name:text-is('robo')")
    page.do("click", ".branch .link:has-text('sleep 302')")
    page.lose(".tree .blame")
    assert page.trouble() == []


def test_whoever_has_the_turn_and_has_left_is_named(
    chromium: Browser, here: World
) -> None:
    here.policy(FREE)
    here.shell("left")
    here.do("--as", "robo", "take", "left")

    page = opened(chromium, here, "left")
    page.see("text=robo has the turn")
    page.see(".turn .kind-agent")


def test_a_command_that_failed_is_told_with_its_status(
    chromium: Browser, here: World
) -> None:
    here.shell("failed")
    page = opened(chromium, here, "failed")
    page.panel("Logbook")

    page.enter("sh -c 'sleep 1; exit 3'")
    page.see(".story >> text=/ran sh -c .sleep 1; exit 3., status 3, \\d+ m?s/")


def test_a_shell_is_called_what_people_call_it(chromium: Browser, here: World) -> None:
    here.shell("called")
    page = opened(chromium, here, "called")

    page.panel("Processes")
    page.see(".branch-command:text-matches('^\\\\S*bash$')")
    assert "rcfile" not in page.do("textContent", ".tree")


def test_what_the_session_does_is_to_be_seen_in_its_head(
    chromium: Browser, here: World
) -> None:
    here.shell("does")
    page = opened(chromium, here, "does")
    page.see(".session-bar .chip:text-is('at-prompt')")

    page.enter("sleep 303")
    page.see(".session-bar .chip:text-is('running')")
    page.do("keyboard.press", "Control+c")
    page.see(".session-bar .chip:text-is('at-prompt')")
    page.enter("read -p 'name? ' name")
    page.see(".session-bar .chip:text-is('waiting-for-input')")
    page.enter("anna")
    page.see(".session-bar .chip:text-is('at-prompt')")
