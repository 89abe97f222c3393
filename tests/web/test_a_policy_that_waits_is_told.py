"""A policy that was changed and not applied is told on top of the host's sessions."""

from pathlib import Path

from tests.web.browsing import PHONE, Browser
from tests.web.world import World

LOOSE = '[default]\nagent = "allow"\n'


def test_a_changed_policy_that_waits_is_on_the_page_until_it_is_applied(
    chromium: Browser, here: World
) -> None:
    here.shell("waits")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-reads"))
    page.see("text=waits")

    path = Path(here.folders["HOLDFAST_CONFIG_DIR"]) / "policy.toml"
    path.write_text(LOOSE)
    page.see("text=a changed policy is not applied yet")

    here.do("gate", "apply", "--yes")
    page.lose("text=a changed policy is not applied yet")
    assert page.trouble() == []
