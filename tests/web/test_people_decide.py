"""What waits for approval is shown with all that matters, and decided by a press."""

from pathlib import Path

from tests.scenarios.support import eventually
from tests.web.browsing import DESKTOP, PHONE, Browser
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

    page.press("Look at it")
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

    page.press("Look at it")
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

    page.do("click", "nav >> text=Processes")
    page.see(".tree >> text=sleep 300")
    page.do("click", "nav >> text=Logbook")
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
    page.press("Send it")
    page.see_printed("got-13")
    assert "correct" not in here.do("log", "secret")
    assert page.trouble() == []


def test_whoever_looks_elsewhere_is_called(chromium: Browser, here: World) -> None:
    here.policy(POLICY)
    here.shell("calling")
    page = chromium.page("anna", {**DESKTOP, "permissions": ["notifications"]})
    page.join(here.invite("--as", "anna-elsewhere"))
    page.open("calling")
    page.do("evaluate", "navigator.serviceWorker.ready.then(() => true)")
    page.do("evaluate", "Object.defineProperty(document, 'hidden', { value: true })")

    agent = here.asks("calling", "true")
    page.wait(
        "navigator.serviceWorker.ready.then((worker) => worker.getNotifications())"
        ".then((found) => found.some((one) => one.title === 'calling'))"
    )
    here.do("end", "calling")
    agent.wait(20)
