"""A session is forked from the page, shown as a tree, and a branch is discarded."""

import pytest
from tests.scenarios.support import eventually
from tests.web.browsing import DESKTOP, PHONE, Browser, Wishes
from tests.web.test_a_session_goes_to_disk_and_back import (
    capsule,
    fits,
    joined,
    shoot,
)
from tests.web.world import World

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)
SIZES = pytest.mark.parametrize(
    "size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"]
)


@SIZES
def test_a_branch_knows_what_its_parent_knew_and_is_discarded(
    chromium: Browser, here: World, size: Wishes
) -> None:
    where = "phone" if size is PHONE else "desk"
    page = joined(chromium, here, f"anna-{where}", "+create", size)
    name = f"tree-{where}"
    capsule(here, name)
    page.open(name)
    page.see(".session-bar .chip:text-is('at-prompt')")

    page.choose("Fork…")
    page.see(f"dialog:has-text('Fork {name}')")
    page.wait(f"document.querySelector('#branch-name').value === '{name}-2'")
    shoot(page, f"fork-{where}")
    assert fits(page)
    page.press("Fork")
    page.see(f"h1:text-is('{name}-2')")
    page.see(".session-bar .chip:text-is('at-prompt')")
    page.enter("echo it-is-$known")
    page.see_printed("it-is-42")

    page.do("click", "[aria-label='All sessions']")
    page.see(f".offshoot .session-name:text-is('{name}-2')")
    page.see(f".offshoot >> text=branch of {name}")
    shoot(page, f"tree-{where}")
    assert fits(page)
    page.open(f"{name}-2")
    page.see(".session-bar .chip:text-is('at-prompt')")
    page.choose("Discard…")
    page.press("Discard it")
    page.lose(f".session-name:text-is('{name}-2')")
    page.see(f".session-name:text-is('{name}')")
    eventually(
        "the parent is left",
        lambda: [one["name"] for one in here.facts("ls")["sessions"]] == [name],
    )


def test_an_image_of_a_session_that_lives_becomes_a_branch(
    chromium: Browser, here: World
) -> None:
    page = joined(chromium, here, "anna-image", "+create", DESKTOP)
    capsule(here, "alive")
    here.do("checkpoint", "alive", "--label", "earlier")
    page.open("alive")
    page.see(".session-bar .chip:text-is('at-prompt')")

    page.choose("Images…")
    page.press("Branch from earlier")

    page.see("h1:text-is('alive-2')")
    page.see(".session-bar .chip:text-is('at-prompt')")
    page.enter("echo it-is-$known")
    page.see_printed("it-is-42")
