"""The list, the session and the terminal say the same, and nothing hides anything."""

import json

import pytest
from tests.web.browsing import DESKTOP, Browser
from tests.web.world import World


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
