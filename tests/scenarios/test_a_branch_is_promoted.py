"""A branch takes the place of its parent: memory and files, under the parent's id."""

import json
import os
import time

import pytest
from tests.scenarios.capsules import Account, account, as_each
from tests.scenarios.test_a_session_goes_on_from_disk import REPL, attached, printed
from tests.scenarios.test_no_kill_loses_a_checkpoint import asked, eventually, kill

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)

LOOK = "echo $x; cat note; ls -1"


def forked(here: Account, *words: str) -> str:
    """Have a session and a branch of it that went another way; return its id."""
    session = here.new("box", "--capsule", *words)
    here.run("box", "x=1; echo one >note; touch old")
    here.ask("fork", "-d", "-n", "twig", "box")
    here.run("twig", "x=2; echo two >note; rm old; touch new; sleep 600 &")
    return session


def demand_promoted(here: Account, session: str) -> None:
    assert here.run("box", LOOK) == "2\ntwo\nnew\nnote\n"
    assert here.run("box", "jobs -r | wc -l") == "1\n"
    told = json.loads(here.ask("ls", "--json"))
    (found,) = told["sessions"]
    assert (found["id"], found["incarnation"]) == (session, 2)
    assert found["parent"] is None
    assert told["lost"] == []


@as_each
@pytest.mark.parametrize("files", ["shared", "own"])
def test_it_goes_on_under_the_id_of_its_parent(user: int, files: str) -> None:
    with account(user) as here:
        session = forked(here, "--files", files)

        made = json.loads(here.ask("fork", "--promote", "--json", "twig"))

        demand_promoted(here, session)
        names = {one.name for one in (here.place / "home").glob("[a-z]*")}
        assert names == ({"note", "new"} if files == "shared" else set())
        assert "of its branch" in here.ask("log", "box")
        here.ask("restore", "--as-new", "-d", "-n", "before", made["before"])
        assert here.run("before", "echo $x") == "1\n"


@as_each
def test_files_that_were_changed_outside_too_stop_it_before_anything(user: int) -> None:
    with account(user) as here:
        session = forked(here)
        time.sleep(0.05)
        here.run("box", "echo three >note")

        said = here.ask("fork", "--promote", "twig", status=64)

        assert "changed outside" in said
        assert here.run("twig", "echo $x") == "2\n"
        assert here.run("box", "echo $x; cat note") == "1\nthree\n"
        here.ask("fork", "--promote", "--force", "twig")
        demand_promoted(here, session)


def test_only_what_came_after_the_branch_is_undone() -> None:
    with account(os.getuid()) as here:
        forked(here)
        here.run("box", "x=3")

        here.ask("fork", "--promote", "--force", "twig")

        told = here.ask("log", "box").splitlines()
        assert [one for one in told if "x=1" in one]
        assert [one for one in told if "x=1" in one and "(undone)" in one] == []
        assert [one for one in told if "x=3" in one and "(undone)" in one]


def test_who_is_attached_to_the_parent_is_told() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule", *REPL)
        with attached(here, "box") as terminal:
            printed(terminal, b">>>")
            here.ask("fork", "-d", "-n", "twig", "box")
            here.ask("fork", "--promote", "twig")

            printed(terminal, b"on disk as")
        assert "is not a branch" in here.ask("fork", "--promote", "box", status=64)


@pytest.mark.parametrize("after", [0.4, 0.8, 1.3])
def test_what_was_killed_on_the_way_is_finished_by_asking_again(after: float) -> None:
    with account(os.getuid()) as here:
        session = forked(here)
        with asked(here, "fork", "--promote", "twig") as asker:
            time.sleep(after)
            kill([asker.pid])

        def is_done() -> bool:
            said = here.ask("fork", "--promote", "twig", status=None)
            return "goes on as its branch" in said or "no session 'twig'" in said

        assert eventually(is_done)
        demand_promoted(here, session)
