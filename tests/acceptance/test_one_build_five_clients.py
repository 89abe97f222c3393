"""t0 to t6: one build, started at a terminal and never again.

A command line starts it and is closed; a browser at a desk, one on a phone, and an
agent come to it one after the other, see it where it is, and say something to it.
Then every process of the machine is killed, and the build goes on from disk.
"""

import signal

import pytest
from tests.acceptance.stage import Process, Robot, Stage, picture, robot
from tests.cli.support.pty_user import User
from tests.web.browsing import DESKTOP, PHONE, Browser, Page

DARK = {"colorScheme": "dark"}
PATIENCE = 300
"""Seconds for a whole play, on a machine that has other things to do."""

SKIP = {"session": "build", "intent": "the release needs no docs"}
PUBLISH = {"session": "build", "intent": "publish what anna had built"}
CHECK = {"session": "build", "intent": "see that the shell is as it was"}


@pytest.mark.timeout(PATIENCE)
def test_one_build_is_seen_and_steered_by_five_clients_and_never_restarted(
    here: Stage, chromium: Browser
) -> None:
    terminal = starts_it_at_a_terminal(here)
    built = here.family("build")
    assert [one.command.split()[-1] for one in built[1:]] == [
        *("make", "build.py", "compiler.py")
    ]

    closes(terminal)
    assert here.family("build") == built, "t2"

    desk = comes_to_it_at_a_desk(here, chromium)
    assert here.family("build") == built, "t3"

    phone = comes_to_it_on_a_phone(here, chromium, desk)
    assert here.family("build") == built, "t4"

    with robot(here) as agent:
        asks_for_the_turn(agent, phone)
        seen = agent.does("graph", session="build")["processes"]
        assert [(one["pid"], one["parent"]) for one in seen] == [
            (one.pid, one.parent) for one in built
        ]
        assert here.family("build") == built, "t5"

    goes_on_after_all_is_killed(here, desk)
    restored = here.family("build")
    assert known(restored) == known(built), "t6"
    assert {one.pid for one in restored}.isdisjoint(one.pid for one in built)

    with robot(here) as agent:
        ends_it(agent, desk)
    assert known(here.family("build")) == known(built[:1])

    assert here.typed("build") == {
        "anna": "make\r",
        "anna-desk": "verbose\r",
        "anna-phone": "jobs 4\r",
        "mcp-agent": "skip docs\ry\recho $((6*7))\r",
    }
    assert here.turns("build") == [
        ("anna", "taken"),
        ("anna-desk", "seized"),
        ("anna-phone", "taken"),
        ("mcp-agent", "answered"),
        ("mcp-agent", "taken"),
    ]
    assert [*desk.trouble(), *phone.trouble()] == []


def starts_it_at_a_terminal(here: Stage) -> User:
    here.enrols("anna")
    words = ("new", "--capsule", "--name", "build", "--cwd", str(here.shop))
    user = User("--as", "anna", *words, env=here.folders)
    user.sees(b"~/shop")
    user.types(b"make\r")
    user.sees(b"[3/3000]")
    return user


def closes(terminal: User) -> None:
    terminal.signal(signal.SIGHUP)
    assert terminal.left() == 128 + signal.SIGHUP
    terminal.close()


def comes_to_it_at_a_desk(here: Stage, chromium: Browser) -> Page:
    page = chromium.page("desk", {**DESKTOP, **DARK})
    page.join(here.invite("--as", "anna-desk"))
    page.open("build")
    page.see_printed("cc out/part_")
    page.press("Seize")
    page.see("text=You have the turn")
    page.enter("verbose")
    page.see_printed("from here on verbose")
    page.panel("Processes")
    page.see(".tree >> text=compiler.py")
    picture(page, "t3-desk")
    page.press("Drop")
    page.see("text=The turn is free")
    return page


def comes_to_it_on_a_phone(here: Stage, chromium: Browser, desk: Page) -> Page:
    page = chromium.page("phone", {**PHONE, **DARK})
    page.join(here.invite("--as", "anna-phone"))
    page.open("build")
    page.see_printed("cc -O2 -Wall out/part_")
    page.enter("jobs 4")
    page.see_printed("from here on jobs 4")
    desk.see("text=anna-phone has the turn")
    picture(page, "t4-phone")
    return page


def asks_for_the_turn(agent: Robot, phone: Page) -> None:
    joined = agent.does("attach", session="build")
    assert (joined["you"], joined["state"]) == ("mcp-agent", "running")
    assert "-Wall out/part_" in agent.does("screen", session="build")["screen"]["text"]
    refused = agent.is_refused("send", text="skip docs", enter=True, **SKIP)
    assert refused["code"] == "not-your-turn"
    asking = agent.begins("ask_turn", **SKIP)
    phone.see("text=mcp-agent asks for the turn")
    picture(phone, "t5-phone-is-asked")
    phone.press("Give")
    assert asking.result()["turn_is_yours"]


def known(family: list[Process]) -> list[tuple[int, str]]:
    """Return what the build knows of its processes, which has to stay."""
    return [(one.inner, one.command) for one in family]


def goes_on_after_all_is_killed(here: Stage, desk: Page) -> None:
    here.do("--as", "anna", "checkpoint", "build", "--label", "before the power cut")
    here.loses_every_process()
    here.up()
    assert [one["name"] for one in here.facts("ls")["lost"]] == ["build"]
    here.do("--as", "anna", "restore", "--detach", "build")
    part = here.part_of("build")
    desk.see_printed(f"[{part + 3}/3000]")
    picture(desk, "t6-desk")


def ends_it(agent: Robot, desk: Page) -> None:
    said = agent.does("send", text="skip docs", enter=True, **SKIP)
    agent.does("wait", session="build", condition="input")
    printed = agent.does("read", session="build", cursor=said["cursor"])
    assert "Publish shop 2.4" in printed["output"]["text"]
    agent.does("send", text="y", enter=True, **PUBLISH)
    agent.does("wait", session="build", condition="prompt")
    ran = agent.does("run", command="echo $((6*7))", **CHECK)
    assert (ran["status"], ran["output"]["text"]) == (0, "42\n")
    desk.see_printed("published shop 2.4")
    desk.panel("Logbook")
    desk.see(".story >> text=typed skip docs")
    desk.see(".story >> text=intends to send: publish what anna had built")
    desk.see(".chip >> text=at-prompt")
    picture(desk, "t6-logbook")
