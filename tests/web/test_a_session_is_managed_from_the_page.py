"""A session is begun, renamed, kept and ended, all from the page."""

from pathlib import Path

import pytest
from tests.scenarios.support import eventually
from tests.web.browsing import DESKTOP, PHONE, Browser, Page, Wishes
from tests.web.world import World

SIZES = pytest.mark.parametrize(
    "size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"]
)


def joined(chromium: Browser, here: World, name: str, size: Wishes = DESKTOP) -> Page:
    page = chromium.page("anna", size)
    page.join(here.invite("--as", name, "--can", "+create"))
    return page


def fill(page: Page, **fields: str) -> None:
    page.press("New session")
    for name, text in fields.items():
        page.do("fill", f"#new-{name}", text)
    page.press("Start")


def is_kept(here: World, name: str) -> bool:
    listed = {one["name"]: one["keep"] for one in here.facts("ls")["sessions"]}
    return listed[name] is True


@SIZES
def test_a_session_is_begun_with_a_name_a_command_and_a_folder(
    chromium: Browser, here: World, size: Wishes
) -> None:
    page = joined(chromium, here, f"anna-begins-{len(size)}", size)
    name = f"chosen-{len(size)}"

    fill(page, name=name, command="sh -c 'pwd; exec cat'", cwd=here.folder)
    page.see(f"h1:text-is('{name}')")
    page.see_printed(Path(here.folder).name)
    listed = {one["name"]: one for one in here.facts("ls")["sessions"]}
    assert listed[name]["cwd"] == here.folder
    assert listed[name]["command"] == ["sh", "-c", "pwd; exec cat"]


def test_a_shell_that_is_begun_here_tells_of_its_commands(
    chromium: Browser, here: World
) -> None:
    page = joined(chromium, here, "anna-tells")
    fill(page, name="telling", cwd="~")
    page.see(".session-bar .chip:text-is('at-prompt')")
    page.enter("true")

    page.panel("Commands")
    page.see(".block.is-done >> text=status 0")


def test_folders_that_were_used_are_offered(chromium: Browser, here: World) -> None:
    page = joined(chromium, here, "anna-folders")
    fill(page, name="first-folder", cwd="/usr/share")
    page.see("h1:text-is('first-folder')")
    here.do("end", "first-folder")
    page.do("click", "[aria-label='All sessions']")
    page.see(".host")

    page.press("New session")
    offered = page.do(
        "evaluate",
        "[...document.querySelectorAll('#folders option')].map((one) => one.value)",
    )
    assert offered[0] == "/usr/share"


@pytest.mark.parametrize(
    "fields",
    [{"cwd": "/no/such/folder"}, {"name": "not a name"}, {"command": "no-such"}],
)
def test_what_cannot_be_started_is_said_in_the_dialog(
    chromium: Browser, here: World, fields: dict[str, str]
) -> None:
    page = joined(chromium, here, f"anna-cannot-{next(iter(fields))}")

    fill(page, **fields)
    page.see("dialog .bad-word")
    page.see("dialog >> text=Start")
    page.press("Cancel")
    page.lose("dialog")


def test_without_the_right_nothing_is_offered(chromium: Browser, here: World) -> None:
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-without"))
    page.see(".host")

    assert not page.do("isVisible", "text=New session")


@SIZES
def test_a_session_gets_another_name(
    chromium: Browser, here: World, size: Wishes
) -> None:
    old, new = f"old-{len(size)}", f"new-{len(size)}"
    here.shell(old)
    page = joined(chromium, here, f"anna-{old}", size)
    page.open(old)

    page.choose("Rename…")
    page.do("fill", "#new-name", "no such / name")
    page.press("Rename")
    page.see("dialog .bad-word")
    page.do("fill", "#new-name", new)
    page.press("Rename")
    page.see(f"h1:text-is('{new}')")
    assert new in {one["name"] for one in here.facts("ls")["sessions"]}
    page.wait(f"document.title.startsWith('{new}')")


def test_a_session_is_kept_and_not_kept(chromium: Browser, here: World) -> None:
    here.shell("keeps")
    page = joined(chromium, here, "anna-keeps")
    page.open("keeps")

    page.choose("Keep it after its end")
    page.see("text=stays listed")
    assert is_kept(here, "keeps")
    page.press("More")
    page.see("[role=menuitem] >> text=Do not keep it")
    page.do("click", "[role=menuitem] >> text=Do not keep it")
    eventually("it is not kept", lambda: not is_kept(here, "keeps"))


def test_a_session_is_ended_only_after_a_question(
    chromium: Browser, here: World
) -> None:
    here.shell("ends")
    page = joined(chromium, here, "anna-ends")
    page.open("ends")

    page.choose("End…")
    page.see("dialog >> text=End ends?")
    page.press("Cancel")
    page.lose("dialog")
    assert any(one["exit"] is None for one in here.facts("ls")["sessions"])
    page.choose("End…")
    page.press("End it")
    page.see("text=This session has ended")


def test_somebody_who_may_not_end_it_is_not_offered_to(
    chromium: Browser, here: World
) -> None:
    here.shell("stays-as-it-is")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-may-not", "--can", "observe,input,take"))
    page.open("stays-as-it-is")

    page.press("More")
    for item in ("Rename…", "End…", "Keep it after its end"):
        assert page.do("isDisabled", f"[role=menuitem]:has-text('{item}')")
