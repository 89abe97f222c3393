"""Whatever is killed amid a fork: the parent lives, the branch is whole or not there.

Killed are the porter, the parent's holder, who asks, what makes the branch, CRIU amid a
restore, and everything of ours at once, at every step.
"""

import json
import os
import time
from pathlib import Path

import pytest
from tests.scenarios.capsules import Account, account, space_of
from tests.scenarios.test_no_kill_loses_a_checkpoint import (
    MOMENTS,
    Moment,
    Victims,
    asked,
    await_moment,
    eventually,
    having,
    holder_and_porter,
    holders,
    kill,
    porters,
    trees,
)

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)

ME = os.getuid()


def listed(here: Account) -> list[str]:
    told = json.loads(here.ask("ls", "--json"))
    return sorted(one["name"] for one in told["sessions"])


CLEAR_AWAY = """
import time
from holdfast.host.expired_records import clear_away
clear_away(time.time() + 2 * 24 * 3600)
"""
"""What the host does now and then, two days later."""


def images(here: Account) -> list[Path]:
    found = map(Path, here.found("images/*/[0-9]*"))
    return [one for one in found if one.is_dir()]


def makers(here: Account, session: str) -> list[int]:
    """Return what makes the branch, and has the image of its parent claimed."""
    claimed = [one for one in having(f"/images/{session}/1") if one in here.ours()]
    porter = porters(here, session)
    return [one for one in claimed if one not in porter]


def criu(_: Account, session: str) -> list[int]:
    """Return CRIU that restores, in a capsule that is not the parent's."""
    parents = trees(session)
    found = []
    for one in having(f"/images/{session}/1/criu"):
        try:
            name = Path(f"/proc/{one}/comm").read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if name in ("criu", "ld-linux-x86-64") and space_of(one) not in parents:
            found.append(one)
    return found


def demand_whole(here: Account, session: str) -> None:
    """Fail unless the parent answers, and so does a branch that is listed."""
    assert eventually(lambda: "box" in listed(here))
    assert here.run("box", "echo $x") == "41\n"
    # What is on its way either comes or does not.
    assert eventually(lambda: len(trees(session)) == len(listed(here)))
    if "twig" in listed(here):
        assert here.run("twig", "echo $x") == "41\n"
    assert eventually(lambda: not here.found("*/*.porting"))


@pytest.mark.parametrize(
    ("victims", "moment"),
    [
        *((porters, moment) for moment in MOMENTS),
        *((holders, moment) for moment in MOMENTS[1:3]),
        (holder_and_porter, MOMENTS[-1]),
    ],
)
def test_a_kill_amid_the_dump(victims: Victims, moment: Moment) -> None:
    with account(ME) as here:
        session = here.new("box", "--capsule")
        here.run("box", "x=41; sleep 600 &")
        with asked(here, "fork", "-d", "-n", "twig", "box") as asker:
            await_moment(here, session, 1, moment)
            kill(victims(here, session))
            asker.wait(30)

        demand_whole(here, session)
        assert eventually(lambda: images(here) == [])


@pytest.mark.parametrize("victims", [makers, criu])
def test_a_kill_amid_the_making_of_the_branch(victims: Victims) -> None:
    with account(ME) as here:
        session = here.new("box", "--capsule")
        here.run("box", "x=41; sleep 600 &")
        with asked(here, "fork", "-d", "-n", "twig", "box") as asker:
            until = time.monotonic() + 20
            while not (found := victims(here, session)) and asker.poll() is None:
                assert time.monotonic() < until
            kill(found)
            status = asker.wait(30)

        demand_whole(here, session)
        assert ("twig" in listed(here)) is (status == 0)
        assert eventually(lambda: images(here) == [])
        # What a killed maker had of the branch's files, the host removes in time.
        here.python(CLEAR_AWAY)
        layers = here.place / "run" / "state" / "layers"
        left = [one.name for one in layers.iterdir()] if layers.exists() else []
        assert len(left) == len(listed(here)) - 1


@pytest.mark.parametrize("after", [0.1, 0.3])
def test_who_asked_is_killed(after: float) -> None:
    with account(ME) as here:
        session = here.new("box", "--capsule")
        here.run("box", "x=41; sleep 600 &")
        with asked(here, "fork", "-d", "-n", "twig", "box"):
            time.sleep(after)

        demand_whole(here, session)


@pytest.mark.parametrize("after", [0.15, 0.35])
def test_everything_is_killed(after: float) -> None:
    with account(ME) as here:
        session = here.new("box", "--capsule")
        here.run("box", "x=41; sleep 600 &")
        here.ask("checkpoint", "box")
        with asked(here, "fork", "-d", "-n", "twig", "box"):
            time.sleep(after)
            kill(here.ours())

        assert eventually(lambda: not trees(session))
        here.ask("restore", "-d", "box")
        assert here.run("box", "echo $x") == "41\n"
