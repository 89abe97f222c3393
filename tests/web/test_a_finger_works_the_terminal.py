"""On a phone: swipe to scroll, write before sending, select, and keys of one's own."""

import json

import pytest
from tests.web.browsing import PHONE, Browser, Page
from tests.web.world import World

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
LEAST_ROWS = 10
LEGIBLE = 11
"""Pixels of the smallest letters."""

FIRST_ROW = "document.querySelector('.xterm-rows > div').textContent.trim()"


def opened(chromium: Browser, here: World, name: str) -> Page:
    here.shell(name)
    page = chromium.page("anna", {**PHONE, **CLIPBOARD})
    page.join(here.invite("--as", f"anna-{name}"))
    page.open(name)
    return page


def touch(
    page: Page, kind: str, *points: tuple[float, float], at: float | None = None
) -> None:
    where = [{"x": x, "y": y} for x, y in points]
    said = {"type": kind, "touchPoints": where}
    when = {} if at is None else {"timestamp": at}
    page.do("devtools", "Input.dispatchTouchEvent", {**said, **when})


def swipe(page: Page, way: float) -> None:
    """Move a finger over the terminal by so many pixels, and let it rest."""
    box = page.do("evaluate", "document.querySelector('.screen')"
                  ".getBoundingClientRect().toJSON()")  # fmt: skip
    x, y = box["left"] + 60, box["top"] + box["height"] / 2 - way / 2
    touch(page, "touchStart", (x, y))
    for step in range(1, 11):
        touch(page, "touchMove", (x, y + way * step / 10))
    # Without a pause it would be a flick, which goes further.
    page.do("evaluate", "new Promise((done) => setTimeout(done, 150))")
    touch(page, "touchEnd")


def first_row(page: Page) -> int:
    shown: str = page.do("evaluate", FIRST_ROW)
    return int(shown) if shown.isdigit() else 0


@pytest.mark.parametrize("does", ["writes", "watches"])
def test_a_swipe_of_300_pixels_scrolls_ten_rows_and_more(
    chromium: Browser, here: World, does: str
) -> None:
    page = opened(chromium, here, f"swipes-and-{does}")
    if does == "writes":
        page.enter("clear; seq 200; echo do''ne")
    else:
        here.types(f"swipes-and-{does}", "clear; seq 200; echo do''ne")
    page.see_printed("done")
    before = first_row(page)

    swipe(page, 300)
    page.wait(f"Number({FIRST_ROW}) <= {before - LEAST_ROWS}")
    swipe(page, -300)
    page.wait(f"Number({FIRST_ROW}) === {before}")
    assert page.trouble() == []


def test_a_flick_goes_on_by_itself(chromium: Browser, here: World) -> None:
    page = opened(chromium, here, "flicked")
    page.enter("clear; seq 400; echo do''ne")
    page.see_printed("done")
    before = first_row(page)

    # As quick as a finger is, however busy the machine.
    begun = page.do("evaluate", "Date.now() / 1000")
    touch(page, "touchStart", (60, 200), at=begun)
    for step in range(1, 6):
        touch(page, "touchMove", (60, 200 + 40 * step), at=begun + step * 0.016)
    touch(page, "touchEnd", at=begun + 0.09)
    page.wait(f"Number({FIRST_ROW}) <= {before - 2 * LEAST_ROWS}")


def test_a_program_that_tracks_the_mouse_gets_the_wheel(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "wheel")
    page.enter("clear; printf '\\e[?1000h\\e[?1006hready\\n'; cat -v")
    page.see_printed("ready")

    swipe(page, 120)
    page.do("keyboard.press", "Enter")
    page.see_printed("^[[<64;")
    swipe(page, -120)
    page.do("keyboard.press", "Enter")
    page.see_printed("^[[<65;")


def test_a_pager_is_scrolled_by_a_swipe(chromium: Browser, here: World) -> None:
    page = opened(chromium, here, "pager")
    page.enter("clear; seq 500 | less")
    page.see_printed("\n2\n3")

    swipe(page, -300)
    page.wait(f"Number({FIRST_ROW}) > {LEAST_ROWS}")


def test_what_a_keyboard_corrects_and_dictates_arrives_once(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "corrected")
    page.enter("clear; cat")
    page.do("focus", "[aria-label='Text to send']")
    for text in ("t", "te", "teh"):
        said = {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        page.do("devtools", "Input.imeSetComposition", said)
    page.do("devtools", "Input.insertText", {"text": "the "})
    page.do("devtools", "Input.insertText", {"text": "quick brown fox"})

    page.press("Send")
    page.see_printed("the quick brown fox\nthe quick brown fox")
    rows = "document.querySelector('.xterm-rows').textContent"
    assert page.do("evaluate", f"{rows}.split('the').length") == 3
    assert page.do("inputValue", "[aria-label='Text to send']") == ""


def test_return_sends_and_type_sends_without_return(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "returned")
    page.do("fill", "[aria-label='Text to send']", "echo one-$((1")
    page.do("click", "button:text-is('Type')")
    page.see_printed("$ echo one-$((1")

    page.do("fill", "[aria-label='Text to send']", "+1))")
    page.do("press", "[aria-label='Text to send']", "Enter")
    page.see_printed("one-2")


def test_what_cannot_be_sent_stays_in_the_field(chromium: Browser, here: World) -> None:
    page = opened(chromium, here, "stays")
    here.do("take", "stays")
    page.see("text=has the turn")

    page.do("fill", "[aria-label='Text to send']", "echo strange")
    page.press("Send")
    page.see("text=Ask for it, or seize it")
    assert page.do("inputValue", "[aria-label='Text to send']") == "echo strange"


def test_a_finger_that_rests_selects_and_what_is_selected_is_copied(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "held")
    page.enter("clear; echo wo''rd-$((40+2)); seq 60; echo do''ne")
    page.see_printed("done")

    touch(page, "touchStart", (60, 200))
    page.see(".select-text >> text=word-42")
    touch(page, "touchEnd")
    select = """(() => {
      const text = document.querySelector('.select-text pre').firstChild;
      const at = text.data.indexOf('word-42');
      getSelection().setBaseAndExtent(text, at, text, at + 7);
    })()"""
    page.do("evaluate", select)
    page.press("Copy")
    page.wait("navigator.clipboard.readText().then((text) => text === 'word-42')")
    page.press("Close")
    page.lose(".select-text")


def test_a_phone_has_the_keys_that_shells_need_and_ones_of_its_own(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "own-keys")
    labels = page.do(
        "evaluate",
        "[...document.querySelectorAll('.key')].map((one) => one.textContent)",
    )
    assert set("|/~-") | {"PgUp", "PgDn"} <= set(labels)
    page.press("Own keys")
    page.do("fill", "#key-sends", "\\q")
    page.press("Add")
    page.see("text=for Ctrl R")
    page.do("fill", "#key-sends", "echo own-$((1+1))\\r")
    page.do("fill", "#key-label", "own")
    page.press("Add")
    page.see(".own-keys >> text=own")
    page.press("Done")

    page.do("reload")
    page.see('.screen[data-painted="true"]')
    page.press("own")
    page.see_printed("own-2")
    stored = page.do("evaluate", "localStorage.getItem('holdfast.keys')")
    assert json.loads(stored) == [{"label": "own", "sends": "echo own-$((1+1))\\r"}]


def test_keys_that_somebody_else_stored_do_no_harm(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "nonsense")
    page.do("evaluate", "localStorage.setItem('holdfast.keys', '[{\"label\":{}}, 7')")
    page.do("reload")

    page.see('.screen[data-painted="true"]')
    assert page.trouble() == []


def test_eighty_columns_are_legible_and_reached_sideways(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "legible")
    here.types("legible", "clear; printf '%80s' en''d")
    page.see_printed("end")

    size = (
        "parseFloat(getComputedStyle(document.querySelector('.xterm-rows')).fontSize)"
    )
    assert page.do("evaluate", size) >= LEGIBLE
    hidden = "document.querySelector('.screen').scrollWidth - innerWidth"
    assert page.do("evaluate", hidden) > 0
    page.do("evaluate", "document.querySelector('.screen').scrollTo(9999, 0)")
    end = """(() => {
      const [row] = [...document.querySelectorAll('.xterm-rows span')]
        .filter((one) => one.textContent.includes('end'));
      return row.getBoundingClientRect().right;
    })()"""
    assert page.do("evaluate", end) <= PHONE["viewport"]["width"]
