"""One types at a time, everybody sees it, and whoever must can stop it."""

import pytest
from tests.web.browsing import DESKTOP, PHONE, Browser, Page, Wishes
from tests.web.world import World

SIZES = pytest.mark.parametrize(
    "size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"]
)


def joined(chromium: Browser, here: World, name: str, size: Wishes) -> Page:
    page = chromium.page(name, size)
    page.join(here.invite("--as", name))
    return page


@SIZES
def test_what_is_typed_is_echoed_and_runs(
    chromium: Browser, here: World, size: Wishes
) -> None:
    name = f"typing-{len(size)}"
    here.shell(name)
    page = joined(chromium, here, f"anna-{name}", size)

    page.open(name)
    page.enter("echo $((6*7))-times")
    page.see_printed("42-times")
    page.see("text=You have the turn")
    assert page.trouble() == []


@SIZES
def test_a_human_takes_the_turn_from_whoever_has_it(
    chromium: Browser, here: World, size: Wishes
) -> None:
    name = f"seized-{len(size)}"
    here.shell(name)
    anna = joined(chromium, here, f"anna-{name}", DESKTOP)
    bert = joined(chromium, here, f"bert-{name}", size)
    anna.open(name)
    anna.enter("echo mine")
    bert.open(name)
    bert.see(f"text=anna-{name} has the turn")

    bert.press("Seize")
    bert.see("text=You have the turn")
    anna.see(f"text=bert-{name} has the turn")
    bert.enter("echo bert-$((1+1))")
    anna.see_printed("bert-2")
    assert [*anna.trouble(), *bert.trouble()] == []


def test_what_somebody_without_the_turn_types_goes_nowhere(
    chromium: Browser, here: World
) -> None:
    here.shell("watched")
    anna = joined(chromium, here, "anna-watched", DESKTOP)
    bert = joined(chromium, here, "bert-watched", DESKTOP)
    anna.open("watched")
    anna.enter("echo begun")
    bert.open("watched")
    bert.see("text=anna-watched has the turn")

    bert.enter("echo strange-$((1+1))")
    bert.see("text=Ask for it, or seize it")
    anna.enter("echo done-$((1+1))")
    bert.see_printed("done-2")
    assert not here.shows("watched", "strange")


def test_the_turn_is_asked_for_and_given(chromium: Browser, here: World) -> None:
    here.shell("asked")
    anna = joined(chromium, here, "anna-asked", DESKTOP)
    bert = joined(chromium, here, "bert-asked", PHONE)
    anna.open("asked")
    anna.enter("echo begun")
    bert.open("asked")

    bert.press("Ask")
    anna.see("text=bert-asked asks for the turn")
    anna.press("Give")
    bert.see("text=You have the turn")


@SIZES
def test_a_frozen_session_cannot_be_taken_for_a_quiet_one(
    chromium: Browser, here: World, size: Wishes
) -> None:
    name = f"frozen-{len(size)}"
    here.shell(name)
    page = joined(chromium, here, f"anna-{name}", size)
    page.open(name)

    page.choose("Freeze")
    page.see(".frozen >> text=no input is accepted")
    page.press("Thaw")
    page.lose(".frozen")
    page.enter("echo thawed-$((1+1))")
    page.see_printed("thawed-2")
    assert page.trouble() == []


def test_watching_does_not_change_the_size(chromium: Browser, here: World) -> None:
    here.shell("sized")
    here.do("resize", "sized", "100x30")
    here.run("drop", "sized")
    page = joined(chromium, here, "anna-sized", PHONE)

    page.open("sized")
    page.wait("document.querySelectorAll('.xterm-rows > div').length === 30")
    here.types("sized", "stty size")
    page.see_printed("30 100")


def test_the_session_fits_the_window_of_whoever_writes(
    chromium: Browser, here: World
) -> None:
    here.shell("fitted")
    page = joined(chromium, here, "anna-fitted", DESKTOP)
    page.open("fitted")

    page.press("Take")
    page.wait("document.querySelectorAll('.xterm-rows > div').length > 30")
    page.enter("test $(tput cols) -gt 100 && echo wide-$((1+1))")
    page.see_printed("wide-2")


@SIZES
def test_no_row_and_no_column_is_cut_off(
    chromium: Browser, here: World, size: Wishes
) -> None:
    name = f"whole-{len(size)}"
    here.shell(name)
    page = joined(chromium, here, f"anna-{name}", size)
    page.open(name)

    page.press("Take")
    page.see("text=You have the turn")
    page.wait(
        """(() => {
          const place = (name) => document.querySelector(name).getBoundingClientRect();
          const [room, all] = [place('.screen'), place('.xterm-screen')];
          const rows = document.querySelectorAll('.xterm-rows > div').length;
          const isFilled = room.bottom - all.bottom < 2 * all.height / rows;
          return all.bottom <= room.bottom && all.right <= room.right && isFilled;
        })()"""
    )


def test_whoever_may_only_watch_sees_everything_and_changes_nothing(
    chromium: Browser, here: World
) -> None:
    here.shell("seen")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "watcher", "--can", "observe"))
    page.open("seen")

    here.types("seen", "echo seen-$((1+1))")
    page.see_printed("seen-2")
    page.see("button:text-is('Take'):disabled")
    page.do("focus", ".xterm-helper-textarea")
    page.type("echo strange")
    assert not here.shows("seen", "strange")


def test_the_keyboard_leads_into_the_terminal_and_out_of_it(
    chromium: Browser, here: World
) -> None:
    here.shell("keyboard")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-keyboard"))
    page.open("keyboard")
    page.do("focus", ".xterm-helper-textarea")

    page.do("keyboard.press", "Shift+F6")
    page.wait("document.activeElement.ariaLabel === 'All sessions'")
    page.do("keyboard.press", "Enter")
    page.see(".list")


def test_the_keys_that_a_phone_lacks_are_in_a_row(
    chromium: Browser, here: World
) -> None:
    here.shell("row")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-row"))
    page.open("row")
    page.enter("cat")

    page.press("Ctrl, for the next key")
    page.type("c")
    page.see_printed("^C")
    page.enter("echo back-$((1+1))")
    page.see_printed("back-2")
    page.press("Up")
    rows = "document.querySelector('.xterm-rows').textContent"
    page.wait(f"{rows}.split('echo back').length > 2")


def test_a_session_is_begun_from_the_page(chromium: Browser, here: World) -> None:
    page = chromium.page("anna-begins", PHONE)
    page.join(here.invite("--as", "anna-begins", "--can", "+create"))

    page.press("New session")
    page.press("Start")
    page.see('.screen[data-painted="true"]')
    page.enter("echo begun-$((1+1))")
    page.see_printed("begun-2")
    assert page.trouble() == []


def test_text_that_scrolled_away_is_found(chromium: Browser, here: World) -> None:
    here.shell("found")
    page = joined(chromium, here, "anna-finds", DESKTOP)
    page.open("found")
    page.enter("echo nee''dle; seq 300; echo do''ne")
    page.see_printed("done")

    page.do("keyboard.press", "Control+Shift+F")
    page.do("fill", "[aria-label='Find in the terminal']", "needle")
    page.do("keyboard.press", "Enter")
    page.see_printed("needle\n1\n2")
    page.see("[role=search] output:text-is('1 of 1')")
    page.do("keyboard.press", "Escape")
    page.lose("[role=search]")
    assert page.trouble() == []


def test_text_that_scrolled_away_before_the_page_came_is_found(
    chromium: Browser, here: World
) -> None:
    here.shell("found-before")
    here.types("found-before", "echo nee''dle; seq 300; echo do''ne")
    here.do("wait", "found-before", "--for", "prompt")
    page = joined(chromium, here, "anna-finds-before", PHONE)
    page.open("found-before")
    page.see_printed("done")

    page.choose("Find")
    page.do("fill", "[aria-label='Find in the terminal']", "needle")
    page.do("keyboard.press", "Enter")
    page.see_printed("needle\n1\n2")


def test_letters_and_colours_are_kept(chromium: Browser, here: World) -> None:
    here.shell("looks")
    page = joined(chromium, here, "anna-looks", {**DESKTOP, "colorScheme": "dark"})
    page.open("looks")

    page.choose("Larger text")
    page.choose("Light colours")
    page.do("reload")
    page.see("[data-theme=light] .xterm-rows")
    page.wait(
        "getComputedStyle(document.querySelector('.xterm-rows')).fontSize === '15px'"
    )


def test_the_colours_of_the_system_are_followed_until_others_are_chosen(
    chromium: Browser, here: World
) -> None:
    page = joined(chromium, here, "anna-colours", {**DESKTOP, "colorScheme": "dark"})
    page.see("[data-theme=dark] .list")

    page.do("emulateMedia", {"colorScheme": "light"})
    page.see("[data-theme=light] .list")
    page.press("Dark colours")
    page.see("[data-theme=dark] .list")
    page.do("reload")
    page.see("[data-theme=dark] .list")
    # Back to what the system wishes is back to following it.
    page.press("Light colours")
    page.do("emulateMedia", {"colorScheme": "dark"})
    page.see("[data-theme=dark] .list")
