"""A session in a capsule is forked: two live ones, and neither is the other's."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from tests.scenarios.capsules import Account, account, as_each
from tests.scenarios.elsewhere import free_port
from tests.scenarios.test_a_session_goes_on_from_disk import (
    REPL,
    attached,
    printed,
    shown,
)

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)


def images_left(here: Account) -> list[str]:
    """Return the folders of images that are there."""
    return [one for one in here.found("images/*/[0-9]*") if Path(one).is_dir()]


@as_each
def test_both_go_on_with_all_that_was_known(user: int) -> None:
    with account(user) as here:
        parent = here.new("box", "--capsule")
        here.run("box", "x=1; sleep 600 &")

        made = json.loads(here.ask("fork", "--json", "-n", "twig", "box"))

        assert made["parent"] == parent
        here.run("box", "x=2; kill %1")
        assert here.run("twig", "echo $x; jobs -r | wc -l") == "1\n1\n"
        assert here.run("box", "echo $x; jobs -r | wc -l") == "2\n0\n"
        told = here.facts("twig")
        assert told["id"] == made["id"] != parent
        assert (told["incarnation"], told["runtime"]) == (1, "capsule")
        assert told["parent"]["session"] == parent
        assert "made a branch of the session, from image 1" in here.ask("log", "box")
        assert f"started this branch of {parent}, from image 1" in here.ask(
            "log", "twig"
        )
        assert images_left(here) == []


@as_each
def test_a_branch_is_no_part_of_its_parent(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "sleep 600 &")
        here.ask("fork", "-d", "-n", "twig", "box")
        here.run("twig", "sleep 601 &")

        assert "sleep 601" not in here.ask("graph", "box")
        here.ask("freeze", "box")
        assert here.run("twig", "echo on; jobs -r | wc -l") == "on\n2\n"
        here.ask("thaw", "box")
        here.ask("end", "box")

        assert here.run("twig", "echo still on") == "still on\n"


@as_each
def test_a_branch_has_a_network_of_its_own(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        # The network is everybody's, and others try the same beside us.
        port = free_port()
        serve = f"python3 -m http.server {port} --bind 127.0.0.1 >/dev/null 2>&1 &"
        fetch = f"curl -s -o /dev/null -w '%{{http_code}}' 127.0.0.1:{port}"
        here.run("box", f"{serve} server=$!")
        here.run("box", f"until {fetch} >/dev/null; do sleep 0.1; done")
        here.run("box", f"exec 7<>/dev/tcp/127.0.0.1/{port}")

        said = here.ask("fork", "-d", "-n", "twig", "box")

        assert f"its connection to 127.0.0.1:{port} is closed in the branch" in said
        here.run("box", "kill $server; wait")
        assert here.run("twig", fetch).strip() == "200"
        assert here.run("box", f"{fetch} || true").strip() == "000"


@as_each
def test_who_is_attached_stays_so_and_a_branch_can_be_forked(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", *REPL)
        with attached(here, "box") as terminal:
            printed(terminal, b">>>")
            here.ask("send", "box", "--enter", "x = 20 + 1")
            here.ask("fork", "-d", "-n", "twig", "box")
            here.ask("send", "twig", "--enter", "x = x * 2")
            here.ask("fork", "-d", "-n", "leaf", "twig")
            here.ask("send", "leaf", "--enter", "print('leaf', x)")
            shown(here, "leaf", "leaf 42")
            here.ask("send", "box", "--enter", "print('root', x)")

            printed(terminal, b"root 21\r\n")
        assert here.facts("leaf")["parent"]["session"] == here.facts("twig")["id"]


@as_each
def test_an_image_is_restored_as_new_as_often_as_one_likes(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "x=1")
        image = json.loads(here.ask("checkpoint", "--stop", "--json", "box"))["image"]

        here.ask("restore", "--as-new", "-d", image)
        here.ask("restore", "--as-new", "-d", "-n", "other", image)
        here.ask("restore", "-d", image)

        for name in ("box", "box-2", "other"):
            assert here.run(name, "echo $x; x=7") == "1\n"
        assert here.facts("box")["incarnation"] == 2
        assert len(images_left(here)) == 1


@as_each
def test_who_has_no_right_to_fork_makes_no_branch(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "x=1")
        here.ask("checkpoint", "box")
        here.ask("operators", "add", "bot", "--kind", "agent")
        here.ask("grant", "box", "bot", "observe", "checkpoint", "create")

        said = here.ask("--as", "bot", "fork", "-d", "box", status=77)
        also = here.ask("--as", "bot", "restore", "--as-new", "-d", "box", status=77)

        assert "fork" in said
        assert "fork" in also
        assert len(json.loads(here.ask("ls", "--json"))["sessions"]) == 1
        assert len(images_left(here)) == 1
        here.ask("grant", "box", "bot", "observe", "fork", "create")
        last = here.ask("--as", "bot", "fork", "-d", "-n", "twig", "box", status=77)
        assert "it lacks the right `create`" in last
        assert len(json.loads(here.ask("ls", "--json"))["sessions"]) == 1
        assert len(images_left(here)) == 1


@as_each
def test_a_branch_that_dozes_and_is_lost_is_still_one(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "x=5")
        here.ask("fork", "-d", "-n", "twig", "box")
        until = time.monotonic() + 20
        while not here.facts("twig")["dozing"]:
            assert time.monotonic() < until
            time.sleep(0.1)

        assert here.run("twig", "echo $x") == "5\n"
        here.ask("checkpoint", "--stop", "twig")
        here.ask("restore", "-d", "twig")

        assert here.run("twig", "echo $x") == "5\n"
        told = here.facts("twig")
        assert told["parent"]["session"] == here.facts("box")["id"]
        assert told["incarnation"] == 2


@as_each
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_is_told_which_it_is(user: int, shell: str) -> None:
    with account(user) as here:
        found = shutil.which(shell)
        if found is None:
            pytest.skip(f"there is no {shell} here")
        here.new("box", "--capsule", "--", found)
        both = "cat /run/holdfast/branch; printenv HOLDFAST_BRANCH"
        first = here.run("box", both).split()
        here.ask("fork", "-d", "-n", "twig", "box")
        here.run("twig", "true")

        second = here.run("twig", both).split()

        assert here.run("box", both).split() == first
        assert first == [here.ask("token", "box").strip()] * 2
        assert second == [here.ask("token", "twig").strip()] * 2
        told = json.loads(here.ask("token", "--check", "--json", second[0]))
        assert told["session"] == here.facts("twig")["id"]
        assert told["parent"] == here.facts("box")["id"]
        here.run("twig", "rm -f /run/holdfast/branch", status=1)
        assert here.run("twig", both).split() == second


@as_each
def test_a_branch_is_discarded_and_nothing_else(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "echo one >note")
        here.ask("fork", "-d", "-n", "twig", "box")
        here.ask("fork", "-d", "-n", "leaf", "twig")
        here.run("twig", "echo two >note; trap '' HUP; sleep 600 & disown")
        tree = here.ask("ls").splitlines()
        assert [line.split()[0] for line in tree[1:]] == ["box", "└─", "└─"]

        assert "is not a branch" in here.ask("fork", "--discard", "box", status=64)
        here.ask("fork", "--discard", "twig")

        assert here.run("leaf", "cat note") == "one\n"
        assert here.run("box", "cat note") == "one\n"
        layers = here.place / "run" / "state" / "layers"
        assert [one.name for one in layers.iterdir()] == [here.facts("leaf")["id"]]


PROGRAM = """
import holdfast
with holdfast.sync.connect() as host:
    with host.attach("box") as session:
        session.run("x=41")
        with session.fork(name="twig") as twig:
            session.run("x=1")
            told = twig.run("echo $x").output.strip()
            print(told, twig.parent.session == session.id)
            image = twig.checkpoint().image
        with host.restore(image, as_new=True) as leaf:
            print(leaf.name, leaf.run("echo $x").output.strip())
            leaf.discard()
    with twig.promote() as again:
        print(again.name, again.run("echo $x").output.strip())
    print([one.name for one in host.sessions()])
"""


def test_a_program_does_the_same_with_the_sdk() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")
        here.run("box", "true")

        assert here.python(PROGRAM).split("\n")[:-1] == [
            "41 True",
            "twig-2 41",
            "box 41",
            "['box']",
        ]


@as_each
def test_a_branch_has_files_of_its_own(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "echo one >note; exec 8>>log; echo a >&8")
        here.ask("fork", "-d", "-n", "twig", "box")

        here.run("twig", "echo two >note; echo b >&8; touch new")
        here.ask("fork", "-d", "-n", "leaf", "twig")
        here.run("leaf", "echo three >note; rm new; echo c >&8")

        assert here.run("box", "cat note log; ls -1") == "one\na\nlog\nnote\n"
        assert here.run("twig", "cat note log; ls -1") == "two\na\nb\nlog\nnew\nnote\n"
        assert here.run("leaf", "cat note log; ls -1") == "three\na\nb\nc\nlog\nnote\n"
        home = here.place / "home"
        assert sorted(one.name for one in home.glob("[a-z]*")) == ["log", "note"]
        assert here.facts("leaf")["parent"]["session"] == here.facts("twig")["id"]
