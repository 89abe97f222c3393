"""Three agents and a human in one session, and a build with a mistake in it.

A planner says what to do, an implementer gets it wrong, a verifier stops the build and
calls for somebody, and anna decides. The turn goes from one to the next; the shell is
the same from beginning to end.
"""

from contextlib import ExitStack
from signal import SIGINT

import pytest
from tests.acceptance.stage import Robot, Stage, picture, robot
from tests.web.browsing import DESKTOP, Browser, Page

PATIENCE = 300
"""Seconds for a whole play, on a machine that has other things to do."""

POLICY = """
[default]
agent = "allow"

[[rule]]
name = "publish"
verdict = "ask"
kind = "agent"
exact = "python3 release.py publish"
why = "it leaves this machine"
"""

WRONG, RIGHT = "echo 1.1 > rebate.txt", "echo 0.9 > rebate.txt"
PLAN = "echo '10 percent off every label' > PLAN"
BUILD = "python3 release.py build"
CHECK = "python3 release.py check"
PUBLISH = "python3 release.py publish"
INTERRUPT = str(int(SIGINT))
CALL = "labels cost more than the list: shall it go on?"


def why(intent: str) -> dict[str, str]:
    return {"session": "release", "intent": intent}


@pytest.mark.timeout(PATIENCE)
def test_the_verifier_stops_what_the_implementer_got_wrong_and_the_human_decides(
    here: Stage, chromium: Browser
) -> None:
    here.policy(POLICY)
    here.do("new", "--detach", "--name", "release", "--cwd", str(here.shop))
    shell = here.family("release")
    desk = chromium.page("desk", {**DESKTOP, "colorScheme": "dark"})
    desk.join(here.invite("--as", "anna"))
    desk.open("release")
    with ExitStack() as stack:
        planner, implementer, verifier = (
            stack.enter_context(robot(here, "--as", name))
            for name in ("planner", "implementer", "verifier")
        )
        for agent in (planner, implementer, verifier):
            agent.does("attach", session="release")

        plans(planner)
        gets_it_wrong(implementer)
        stops_it(verifier, desk)
        decides(desk)
        gets_it_right(implementer, desk)
        publishes(verifier, desk)

    assert here.family("release") == shell
    assert here.typed("release") == {
        "planner": f"{PLAN}\r",
        "implementer": f"cat PLAN\r{WRONG}\r{BUILD} 1\r{BUILD} 20\r",
        "verifier": f"{INTERRUPT}{CHECK}\r{CHECK}\r{PUBLISH}\r",
        "anna": f"{RIGHT}\r",
    }
    assert here.turns("release") == [
        ("planner", "taken"),
        ("implementer", "given"),
        ("verifier", "given"),
        ("anna", "seized"),
        ("implementer", "answered"),
        ("verifier", "given"),
    ]
    assert desk.trouble() == []


def plans(planner: Robot) -> None:
    planner.does("take_turn", session="release")
    planner.does("run", command=PLAN, **why("say what the release needs"))
    planner.does("give_turn", session="release", to="implementer")


def gets_it_wrong(implementer: Robot) -> None:
    read = implementer.does("run", command="cat PLAN", **why("read the plan"))
    assert "10 percent off" in read["output"]["text"]
    implementer.does("run", command=WRONG, **why("take ten percent off"))
    told = why("make the labels")
    implementer.does("send", text=f"{BUILD} 1", enter=True, **told)
    implementer.does("give_turn", session="release", to="verifier")


def stops_it(verifier: Robot, desk: Page) -> None:
    desk.see_printed("20.00 EUR -> 22.00 EUR")
    seen = verifier.does("screen", session="release")["screen"]["text"]
    assert "-> 22.00 EUR" in seen
    desk.see("text=verifier has the turn")
    picture(desk, "four-goes-wrong")
    verifier.does("signal", signal="INT", **why("a rebate must not raise prices"))
    verifier.does("wait", session="release", condition="prompt")
    checked = verifier.does("run", command=CHECK, **why("count the wrong labels"))
    assert checked["status"] == 1
    verifier.does("notify", session="release", text=CALL)


def decides(desk: Page) -> None:
    desk.see("text=calls you")
    desk.see(".chip >> text=at-prompt")
    picture(desk, "four-calls")
    desk.press("Seize")
    desk.see("text=You have the turn")
    desk.enter(RIGHT)
    desk.see_printed(RIGHT)


def gets_it_right(implementer: Robot, desk: Page) -> None:
    told = why("make the labels again, as anna has set it right")
    asking = implementer.begins("ask_turn", **told)
    desk.see("text=implementer asks for the turn")
    desk.press("Give")
    assert asking.result()["turn_is_yours"]
    made = implementer.does("run", command=f"{BUILD} 20", **told)
    assert made["status"] == 0
    implementer.does("give_turn", session="release", to="verifier")


def publishes(verifier: Robot, desk: Page) -> None:
    checked = verifier.does("run", command=CHECK, **why("see that it is right now"))
    assert checked["status"] == 0
    publishing = verifier.begins("run", command=PUBLISH, **why("it is right now"))
    desk.press("Review")
    desk.see(f"text={PUBLISH}")
    picture(desk, "four-approval")
    desk.press("Approve")
    assert publishing.result()["status"] == 0
    desk.see_printed("published")
    desk.panel("Logbook")
    desk.see(".story >> text=approved")
    desk.see(".chip >> text=at-prompt")
    picture(desk, "four-logbook")
