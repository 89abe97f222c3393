"""At 360 pixels nothing is cut off, nothing breaks badly, and a finger hits it."""

from pathlib import Path

from tests.web.browsing import PHONE, Browser, Page
from tests.web.world import World

POLICY = '[[rule]]\nname = "ask"\nverdict = "ask"\nkind = "agent"\ninput = "command"\n'
OVERFLOWS = "document.documentElement.scrollWidth > innerWidth"
ONE_ROW = 56
"""Pixels of a header of one row of buttons."""

ONE_LINE = 30
"""Pixels of a name that is not broken into lines."""

CUT_SHORT = """(() => {
  const name = document.querySelector('.title h1');
  return name.scrollWidth > name.clientWidth;
})()"""

ALL_CUT = """[...document.querySelectorAll('.title h1, .doing .chip, .turn-text')]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => one.textContent)"""

LEAST_FINGER = 34
"""Pixels of the smallest thing to press: WCAG 2.2 asks for 24."""

TOO_SMALL = f"""[...document.querySelectorAll('button, a.button')]
  .filter((one) => one.checkVisibility())
  .filter((one) => one.getBoundingClientRect().height < {LEAST_FINGER})
  .map((one) => one.textContent)"""


def box(page: Page, selector: str) -> dict[str, float]:
    """Return where an element is."""
    found: dict[str, float] = page.do(
        "evaluate",
        f"document.querySelector({selector!r}).getBoundingClientRect().toJSON()",
    )
    return found


def test_a_long_name_leaves_room_for_who_has_the_turn_and_for_the_buttons(
    chromium: Browser, here: World
) -> None:
    name = "a-name-that-is-as-long-as-names-of-people-and-agents-get"
    here.shell("long")
    here.do("operators", "add", name, "--kind", "human")
    here.do("--as", name, "take", "long")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-long"))
    page.open("long")

    page.see("text=has the turn")
    bar, turn, buttons = (
        box(page, one) for one in (".session-bar", ".turn", ".turn-buttons")
    )
    assert bar["height"] <= ONE_ROW
    assert turn["right"] <= buttons["left"]
    assert buttons["right"] <= 360
    assert not page.do("evaluate", OVERFLOWS)
    assert page.do("evaluate", TOO_SMALL) == []


def test_state_and_turn_are_legible_beside_ask_and_seize(
    chromium: Browser, here: World, tmp_path: Path
) -> None:
    here.do("new", "--detach", "--name", "shop", "--", "cat")
    here.do("operators", "add", "robot", "--kind", "agent")
    here.do("--as", "robot", "take", "shop")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-beside"))
    page.open("shop")

    page.see("text=Ask")
    page.see("text=Seize")
    page.see("text=robot has the turn")
    page.see(".session-bar .chip:text-is('waiting-for-input')")
    page.picture(tmp_path / "beside.png")

    assert page.do("evaluate", ALL_CUT) == []
    assert box(page, ".session-bar")["height"] <= ONE_ROW
    assert page.do("evaluate", TOO_SMALL) == []
    assert not page.do("evaluate", OVERFLOWS)
    here.do("end", "shop")


def test_a_name_stands_on_one_line_beside_all_that_is_said_of_a_session(
    chromium: Browser, here: World
) -> None:
    here.policy(POLICY)
    here.shell("shop")
    agent = here.asks("shop", "true")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-held"))

    page.see('.session:has-text("shop") >> text=waits for approval')
    assert box(page, ".session-name")["height"] <= ONE_LINE
    page.open("shop")
    page.see("text=waits for approval")
    assert not page.do("evaluate", CUT_SHORT)
    agent.kill()
    agent.wait()


def test_the_answers_to_whoever_asks_stand_side_by_side(
    chromium: Browser, here: World
) -> None:
    here.shell("answers")
    anna = chromium.page("anna", PHONE)
    anna.join(here.invite("--as", "anna-answers-here"))
    anna.open("answers")
    anna.press("Take")
    anna.see("text=You have the turn")
    bert = chromium.page("bert", PHONE)
    bert.join(here.invite("--as", "bert-with-a-longer-name"))
    bert.open("answers")

    bert.press("Ask")
    anna.see("text=bert-with-a-longer-name asks for the turn")
    tops = anna.do(
        "evaluate",
        "[...document.querySelectorAll('.strip-buttons button')]"
        ".map((one) => one.getBoundingClientRect().top)",
    )
    assert len(tops) == 2
    assert tops[0] == tops[1]
    assert not anna.do("evaluate", OVERFLOWS)


def test_every_view_fits(chromium: Browser, here: World) -> None:
    here.shell("fits")
    page = chromium.page("anna", PHONE)
    page.goto(here.url)
    page.see("text=No host yet")
    assert not page.do("evaluate", OVERFLOWS)
    page.join(here.invite("--as", "anna-fits"))
    page.see('.session-name:text-is("fits")')
    assert not page.do("evaluate", OVERFLOWS)
    page.open("fits")

    for panel in ("People", "Approvals", "Commands", "Processes", "Logbook"):
        page.panel(panel)
        assert not page.do("evaluate", OVERFLOWS), panel
        assert page.do("evaluate", TOO_SMALL) == []
        page.do("click", "[aria-label='Close the panel']")
    assert page.trouble() == []
