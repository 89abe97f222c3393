"""Each command is a block: how it ended, who ran it, what it printed, and once more."""

import json
import re

import pytest
from tests.web.browsing import DESKTOP, PHONE, Browser, Page, Wishes
from tests.web.world import World

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}


def opened(chromium: Browser, here: World, name: str, size: Wishes = DESKTOP) -> Page:
    page = chromium.page("anna", {**size, **CLIPBOARD})
    page.join(here.invite("--as", f"anna-{name}"))
    page.open(name)
    return page


def block(line: str) -> str:
    return f".block:has(code:text-is({json.dumps(line)}))"


def copied(page: Page, line: str) -> str:
    """Return what is on the clipboard after a block's output was copied."""
    page.do("evaluate", "navigator.clipboard.writeText('')")
    page.do("click", f"{block(line)} >> text=Copy output")
    page.wait("navigator.clipboard.readText().then((text) => text !== '')")
    found: str = page.do("evaluate", "navigator.clipboard.readText()")
    return found


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"])
def test_a_block_says_how_a_command_ended_and_who_ran_it(
    chromium: Browser, here: World, size: Wishes
) -> None:
    name = f"blocks-{len(size)}"
    here.policy('[default]\nagent = "allow"\n')
    here.shell(name)
    here.do("--as", "robo", "run", name, "echo from-robo")
    here.run("--as", "robo", "drop", name)
    page = opened(chromium, here, name, size)
    page.enter("(exit 3)")
    page.enter("sleep 1000")
    page.panel("Commands")

    page.see(f"{block('(exit 3)')}.is-failed >> text=status 3")
    page.see(f"{block('(exit 3)')} >> text=you")
    page.see(f"{block('echo from-robo')}.is-done >> text=robo")
    page.see(f"{block('sleep 1000')}.is-running >> text=running")
    took = page.do("textContent", f"{block('(exit 3)')} .block-facts")
    assert re.search(r"\d+ m?s", took)
    assert page.trouble() == []


def test_a_block_is_unfolded_and_folded(chromium: Browser, here: World) -> None:
    here.shell("folds")
    page = opened(chromium, here, "folds")
    page.enter("printf 'one\\ntw''o\\n'")
    page.see_printed("one\ntwo")
    page.panel("Commands")
    line = "printf 'one\\ntw''o\\n'"

    page.do("click", f"{block(line)} .block-head")
    page.see(f"{block(line)} .block-output >> text=one")
    assert page.do("textContent", f"{block(line)} .block-output") == "one\ntwo"
    page.do("click", f"{block(line)} .block-head")
    page.lose(".block-output")


def test_the_output_of_one_command_is_copied_as_it_looked(
    chromium: Browser, here: World
) -> None:
    here.shell("copies")
    page = opened(chromium, here, "copies")
    line = "printf '\\e[31m10%%\\r100%%\\e[0m d''one\\n'"
    page.enter(line)
    page.enter("echo ot''her")
    page.see_printed("other")
    page.panel("Commands")

    page.see(block(line))
    assert copied(page, line) == "100% done"


def test_what_ran_before_the_page_came_is_copied_too(
    chromium: Browser, here: World
) -> None:
    here.shell("earlier")
    here.types("earlier", "seq 300")
    here.do("wait", "earlier", "--for", "prompt")
    here.types("earlier", "echo later")
    page = opened(chromium, here, "earlier")
    page.panel("Commands")

    page.see(block("seq 300"))
    assert copied(page, "seq 300").split() == [str(n) for n in range(1, 301)]


def test_output_that_is_not_kept_is_said_to_be_gone(
    chromium: Browser, here: World
) -> None:
    here.shell("rolled")
    here.types("rolled", "echo first")
    here.do("wait", "rolled", "--for", "prompt")
    here.types("rolled", "head -c 40000000 /dev/zero | tr '\\0' x; echo")
    here.do("wait", "rolled", "--for", "prompt")
    page = opened(chromium, here, "rolled")
    page.panel("Commands")

    page.do("click", f"{block('echo first')} .block-head")
    page.see("text=no longer available")


def test_a_command_is_run_again(chromium: Browser, here: World) -> None:
    here.shell("again")
    page = opened(chromium, here, "again")
    page.enter("expr 40 + 2")
    page.see_printed("42\n$")
    page.panel("Commands")
    page.see(f"{block('expr 40 + 2')}.is-done")

    page.do("click", f"{block('expr 40 + 2')} >> text=Run again")
    page.see(f"{block('expr 40 + 2')} >> nth=1")
    page.see_printed("42\n$ expr 40 + 2\n42")


def test_somebody_who_may_only_watch_runs_nothing_again(
    chromium: Browser, here: World
) -> None:
    here.shell("watched-block")
    here.types("watched-block", "echo once")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-watches-blocks", "--can", "observe"))
    page.open("watched-block")
    page.panel("Commands")

    page.see(block("echo once"))
    assert page.do("isDisabled", f"{block('echo once')} >> text=Run again")


def test_a_command_of_a_stranger_is_shown_as_text(
    chromium: Browser, here: World
) -> None:
    here.shell("strange-block")
    here.types("strange-block", "echo '<img src=x onerror=alert(1)>\u202e'")
    page = opened(chromium, here, "strange-block")
    page.panel("Commands")

    page.see(".block code >> text=\\u202e")
    page.do("click", ".block-head >> nth=-1")
    page.see(".block-output >> text=onerror")
    assert page.trouble() == []
