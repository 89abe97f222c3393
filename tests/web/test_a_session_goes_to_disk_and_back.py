"""A session is put to disk from the page, and brought back from there."""

import os
from pathlib import Path

import pytest
from tests.scenarios.support import eventually
from tests.web.browsing import DESKTOP, PHONE, Browser, Page, Wishes
from tests.web.test_a_lost_session_is_recovered import lose
from tests.web.world import World

import holdfast
from holdfast.linux.criu import program
from holdfast.model.ids import SessionId

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)
SIZES = pytest.mark.parametrize(
    "size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"]
)
PICTURES = os.environ.get("PICTURES", "")


def joined(chromium: Browser, here: World, name: str, can: str, size: Wishes) -> Page:
    page = chromium.page(name, size)
    page.join(here.invite("--as", name, "--can", can))
    return page


def capsule(here: World, name: str) -> SessionId:
    """Start a shell in a capsule that knows something."""
    with here.inhabited(), holdfast.sync.connect() as host:
        made = host.create(("bash",), name=name, runtime="capsule")
        with made:
            made.run("known=42")
        return made.id


def shoot(page: Page, name: str) -> None:
    if PICTURES:
        page.picture(Path(PICTURES) / f"{name}.png")


def fits(page: Page) -> bool:
    """Tell whether nothing is wider than the page."""
    found = page.do(
        "evaluate",
        "document.documentElement.scrollWidth <= innerWidth"
        " && [...document.querySelectorAll('dialog *')].every("
        "(one) => one.getBoundingClientRect().right <= innerWidth)",
    )
    return found is True


@SIZES
def test_it_is_put_to_disk_and_goes_on(
    chromium: Browser, here: World, size: Wishes
) -> None:
    where = "phone" if size is PHONE else "desk"
    page = joined(chromium, here, f"anna-{where}", "+create", size)
    capsule(here, f"box-{where}")
    page.open(f"box-{where}")
    page.see(".session-bar .chip:text-is('at-prompt')")

    page.choose("Checkpoint…")
    page.do("fill", "#image-label", "before the upgrade")
    shoot(page, f"checkpoint-{where}")
    assert fits(page)
    page.press("Checkpoint")
    page.see("dialog >> text=The session was stopped for")
    shoot(page, f"made-{where}")
    page.press("Images…")
    page.see(".image >> text=before the upgrade")
    shoot(page, f"images-{where}")
    assert fits(page)
    restore = 'role=button[name="Restore before the upgrade"]'
    assert page.do("isDisabled", restore) is True
    page.press("Close")
    page.enter("echo it-is-$known")
    page.see_printed("it-is-42")


@SIZES
def test_it_is_put_to_disk_ended_and_restored_with_what_it_knew(
    chromium: Browser, here: World, size: Wishes
) -> None:
    where = "phone" if size is PHONE else "desk"
    page = joined(chromium, here, f"anna-stops-{where}", "+create", size)
    session = capsule(here, f"stopped-{where}")
    page.open(f"stopped-{where}")
    page.see(".session-bar .chip:text-is('at-prompt')")

    page.choose("Checkpoint…")
    page.do("check", "input[value=stop]")
    page.press("Checkpoint")
    page.see("dialog >> text=and has ended")
    page.press("Done")
    page.see("h2:text-is('This session is on disk')")
    page.see(".session-bar .chip:text-is('on disk')")
    page.see('role=button[name="Restore"]')
    shoot(page, f"stopped-{where}")
    assert fits(page)
    page.press("Restore")
    page.see(".session-bar .chip:text-is('at-prompt')")
    page.enter("echo it-is-$known")
    page.see_printed("it-is-42")
    [listed] = here.facts("ls")["sessions"]
    assert (listed["id"], listed["incarnation"]) == (session, 2)


def test_a_lost_session_goes_on_from_its_image_and_another_image_is_removed(
    chromium: Browser, here: World
) -> None:
    page = joined(chromium, here, "anna-lost", "+create", DESKTOP)
    session = capsule(here, "lost-box")
    for label in ("first", "second"):
        here.do("checkpoint", "lost-box", "--label", label)

    lose(here, session)
    page.see(".session.lost .chip:text-is('lost')")
    shoot(page, "lost-desk")
    page.press("Images of lost-box")
    page.see(".image >> text=first")
    page.press("Remove first")
    page.press("Keep it")
    assert page.do("isVisible", ".image >> text=first") is True
    page.press("Remove first")
    page.see("dialog >> text=This cannot be undone")
    page.press("Remove it")
    page.lose(".image >> text=first")
    page.press("Restore second")

    page.see(".session-bar .chip:text-is('at-prompt')")
    page.enter("echo it-is-$known")
    page.see_printed("it-is-42")


def test_who_has_not_the_right_is_shown_no_image(
    chromium: Browser, here: World
) -> None:
    capsule(here, "hidden-box")
    here.do("checkpoint", "hidden-box", "--label", "secret plan")
    page = joined(chromium, here, "otto", "observe,input", DESKTOP)

    page.see(".session-name:text-is('hidden-box')")
    assert page.do("isVisible", 'role=button[name="Images"]') is False
    page.do("click", ".session-name:text-is('hidden-box')")
    page.see(".session-bar .chip:text-is('at-prompt')")
    page.press("More")
    page.see("role=menu")
    for item in ("Checkpoint…", "Images…"):
        assert page.do("isVisible", f'role=menuitem[name="{item}"]') is False


def test_what_cannot_go_to_disk_is_said_with_what_to_do(
    chromium: Browser, here: World
) -> None:
    page = joined(chromium, here, "anna-plain", "+create", DESKTOP)
    here.shell("plain")
    page.open("plain")
    page.see(".session-bar .chip:text-is('at-prompt')")

    page.choose("Checkpoint…")

    page.see("dialog >> text=It cannot be saved to disk now")
    page.see("dialog >> text=What to do")
    shoot(page, "blocked-desk")


def test_a_session_that_is_begun_on_the_page_can_be_in_a_capsule(
    chromium: Browser, here: World
) -> None:
    page = joined(chromium, here, "anna-begins", "+create", DESKTOP)
    page.press("New session")
    page.do("fill", "#new-name", "walled")
    page.do("check", "input[name=capsule]")
    shoot(page, "new-desk")
    page.press("Start")

    page.see("h1:text-is('walled')")
    eventually(
        "it is in a capsule",
        lambda: [one["runtime"] for one in here.facts("ls")["sessions"]] == ["capsule"],
    )
