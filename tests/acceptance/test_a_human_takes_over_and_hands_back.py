"""The litmus: an agent is amid a migration, and a human on a phone sees it go wrong.

She seizes the session, interrupts, undoes, sets right what was wrong, and gives the
turn back; the agent goes on in the same shell, from what she has made of it.
"""

import sqlite3
from concurrent.futures import Future
from typing import Any

import pytest
from tests.acceptance.stage import Process, Robot, Stage, picture, robot
from tests.web.browsing import PHONE, Browser, Page

PATIENCE = 300
"""Seconds for a whole play, on a machine that has other things to do."""

WHY = {"session": "orders", "intent": "migrate the prices to whole cents"}
AGAIN = {"session": "orders", "intent": "go on with what anna has set right"}
WRONG = "export FACTOR=1000"
RIGHT = "export FACTOR=100"


@pytest.mark.timeout(PATIENCE)
def test_a_human_seizes_fixes_and_gives_back_and_the_agent_goes_on_from_there(
    here: Stage, chromium: Browser
) -> None:
    shell = opens_a_shell(here)
    phone = chromium.page("phone", {**PHONE, "colorScheme": "dark"})
    phone.join(here.invite("--as", "anna-phone"))
    phone.open("orders")
    with robot(here) as agent:
        running = goes_wrong(agent)

        seizes_and_fixes(here, phone, running)
        assert not any(cents(here))

        asks_and_is_given_the_turn(agent, phone)
        goes_on(agent)
        phone.see_printed("all orders are migrated")
        phone.panel("Logbook")
        phone.see(f".story >> text={RIGHT}")
        phone.see(".chip >> text=at-prompt")
        picture(phone, "litmus-logbook")

    assert here.family("orders") == shell
    assert cents(here) == [round(float(price) * 100) for price in prices(here)]
    typed = here.typed("orders")
    assert typed["anna-phone"] == f"python3 migrate.py undo\r{RIGHT}\r"
    assert typed["mcp-agent"] == (
        f"{WRONG}\rpython3 migrate.py 10\rpython3 migrate.py 500\r"
    )
    assert here.turns("orders")[1:] == [
        ("mcp-agent", "taken"),
        ("anna-phone", "seized"),
        ("mcp-agent", "answered"),
    ]
    assert phone.trouble() == []


def opens_a_shell(here: Stage) -> list[Process]:
    words = ("--detach", "--name", "orders", "--cwd", str(here.shop))
    here.do("new", *words)
    here.do("run", "orders", "python3 migrate.py create; clear")
    return here.family("orders")


def goes_wrong(agent: Robot) -> Future[dict[str, Any]]:
    agent.does("take_turn", session="orders")
    agent.does("run", command=WRONG, **WHY)
    return agent.begins("run", command="python3 migrate.py 10", **WHY)


def seizes_and_fixes(here: Stage, phone: Page, running: Future[dict[str, Any]]) -> None:
    phone.see("text=mcp-agent has the turn")
    phone.see_printed("19.10 EUR -> 19100 cents")
    phone.see(".chip >> text=running")
    picture(phone, "litmus-goes-wrong")
    phone.press("More ways to seize")
    phone.do("click", "text=Seize and interrupt")
    phone.see("text=You have the turn")
    phone.see("text=variable FACTOR (mcp-agent)")
    phone.press("I have seen it")
    assert running.result()["status"] == 130
    assert any(cents(here))
    phone.enter("python3 migrate.py undo")
    phone.see_printed("orders are as they were\nanna@atlas:~/shop$")
    phone.enter(RIGHT)
    phone.see_printed(RIGHT)


def asks_and_is_given_the_turn(agent: Robot, phone: Page) -> None:
    refused = agent.is_refused("run", command="python3 migrate.py 10", **WHY)
    assert refused["code"] == "not-your-turn"
    asking = agent.begins("ask_turn", **AGAIN)
    phone.see("text=mcp-agent asks for the turn")
    phone.see(".chip >> text=at-prompt")
    picture(phone, "litmus-hands-back")
    phone.press("Give")
    given = asking.result()
    assert given["turn_is_yours"]
    changed = given["you_inherit"]["changed_by_others"]
    assert {"what": "variable", "name": "FACTOR"} in changed


def goes_on(agent: Robot) -> None:
    found = agent.does("blame", session="orders", what="variable", name="FACTOR")
    assert found["behind"]["line"] == RIGHT
    ran = agent.does("run", command="python3 migrate.py 500", **AGAIN)
    assert ran["status"] == 0


def cents(here: Stage) -> list[int | None]:
    return column(here, "cents")


def prices(here: Stage) -> list[str]:
    return column(here, "price")


def column(here: Stage, name: str) -> list[Any]:
    orders = sqlite3.connect(here.shop / "orders.db")
    try:
        found = orders.execute(f"select {name} from orders order by id").fetchall()  # noqa: S608  # ours
    finally:
        orders.close()
    return [value for (value,) in found]
