"""What waits for approval is shown with all that matters, and decided by a press."""

from pathlib import Path

from tests.scenarios.support import eventually
from tests.web.browsing import DESKTOP, PHONE, Browser, Page
from tests.web.world import World

POLICY = """
[[rule]]
name = "careful-with-agents"
verdict = "ask"
kind = "agent"
input = "command"
"""


def test_a_command_runs_once_somebody_approved_it(
    chromium: Browser, here: World, tmp_path: Path
) -> None:
    here.policy(POLICY)
    here.shell("approved")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-approves"))
    page.open("approved")
    agent = here.asks("approved", f"touch {tmp_path}/made")

    page.press("Review")
    page.see(f"text=touch {tmp_path}/made")
    page.see("text=careful-with-agents")
    page.press("Approve")
    eventually("it has run", (tmp_path / "made").exists)
    page.see("text=Nothing waits for approval")
    agent.wait(20)
    assert page.trouble() == []


def test_a_command_that_was_denied_never_runs(
    chromium: Browser, here: World, tmp_path: Path
) -> None:
    here.policy(POLICY)
    here.shell("denied")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-denies"))
    page.open("denied")
    agent = here.asks("denied", f"touch {tmp_path}/made")

    page.press("Review")
    page.press("Deny")
    page.see("text=Nothing waits for approval")
    assert agent.wait(20) != 0
    assert not (tmp_path / "made").exists()


def test_whoever_waits_for_approval_comes_first_in_the_list(
    chromium: Browser, here: World
) -> None:
    here.policy(POLICY)
    here.shell("needy")
    here.shell("content")
    agent = here.asks("needy", "true")
    page = chromium.page("anna", PHONE)

    page.join(here.invite("--as", "anna-lists"))
    page.see('.session:has-text("needy") >> text=waits for approval')
    first = page.do("textContent", ".session-name >> nth=0")
    here.do("end", "needy")
    agent.wait(20)
    assert first == "needy"


def test_processes_and_the_logbook_tell_what_happened(
    chromium: Browser, here: World
) -> None:
    here.shell("told")
    here.types("told", "sleep 300")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-reads"))
    page.open("told")

    page.panel("Processes")
    page.see(".tree >> text=sleep 300")
    page.panel("Logbook")
    page.see(".story >> text=typed sleep 300⏎")
    page.see(".story >> text=attached")
    assert page.trouble() == []


def test_a_secret_is_answered_in_a_field_and_is_in_no_record(
    chromium: Browser, here: World
) -> None:
    here.shell("secret")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-answers"))
    page.open("secret")
    page.enter("read -s given; echo got-${#given}")

    page.do("fill", "#secret", "correct horse")
    page.press("Send")
    page.see_printed("got-13")
    assert "correct" not in here.do("log", "secret")
    assert page.trouble() == []


def looks_elsewhere(chromium: Browser, here: World, name: str) -> Page:
    page = chromium.page("anna", {**DESKTOP, "permissions": ["notifications"]})
    page.join(here.invite("--as", f"anna-{name}"))
    page.do("evaluate", "navigator.serviceWorker.ready.then(() => true)")
    page.do("evaluate", "Object.defineProperty(document, 'hidden', { value: true })")
    return page


def is_called(page: Page, name: str, text: str) -> None:
    page.wait(
        "navigator.serviceWorker.ready.then((worker) => worker.getNotifications())"
        f".then((found) => found.some((one) => one.title === '{name}'"
        f" && one.body.includes('{text}')))"
    )


def test_whoever_looks_elsewhere_is_called_to_approve(
    chromium: Browser, here: World
) -> None:
    here.policy(POLICY)
    here.shell("calling")
    page = looks_elsewhere(chromium, here, "calling")
    page.open("calling")

    agent = here.asks("calling", "true")
    is_called(page, "calling", "approval")
    here.do("end", "calling")
    agent.wait(20)


def test_whoever_looks_elsewhere_is_called_when_input_is_needed(
    chromium: Browser, here: World
) -> None:
    here.shell("needing")
    page = looks_elsewhere(chromium, here, "needing")
    page.open("needing")

    here.types("needing", "read -p 'Publish? ' answer")
    is_called(page, "needing", "waits for input")


def test_the_list_calls_too(chromium: Browser, here: World) -> None:
    here.shell("listed")
    page = looks_elsewhere(chromium, here, "listed")
    page.see('.session:has-text("listed") >> text=at-prompt')

    here.types("listed", "read -sp 'Password: ' secret")
    is_called(page, "listed", "waits for input")


def test_whoever_did_not_ask_to_be_called_is_not(
    chromium: Browser, here: World
) -> None:
    here.shell("silent")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-silent"))
    page.open("silent")
    page.do("evaluate", "navigator.serviceWorker.ready.then(() => true)")

    here.types("silent", "read -p 'Publish? ' answer")
    page.see(".chip >> text=waiting-for-input")
    found = "navigator.serviceWorker.ready.then((worker) => worker.getNotifications())"
    assert page.do("evaluate", f"{found}.then((all) => all.length)") == 0
