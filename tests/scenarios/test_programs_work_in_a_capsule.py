"""What people use in a terminal works in a capsule as it does outside."""

import shutil
import time

import pytest
from tests.scenarios.capsules import Account, account, as_each

PATIENCE = 15.0


def sees(here: Account, text: str) -> None:
    """Wait until a capsule's screen shows a text."""
    deadline = time.monotonic() + PATIENCE
    while text not in (screen := here.ask("screen", "box")):
        assert time.monotonic() < deadline, screen
        time.sleep(0.1)


def needs(program: str) -> None:
    """Skip a test for a program that is not here."""
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")


@as_each
def test_jobs_are_stopped_continued_and_interrupted(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.ask("send", "box", "--enter", "sleep 600")
        time.sleep(0.3)
        here.ask("keys", "box", "C-z")
        sees(here, "Stopped")
        here.ask("send", "box", "--enter", "fg")
        time.sleep(0.3)
        here.ask("keys", "box", "C-c")

        assert here.run("box", "jobs; echo none") == "none\n"


@as_each
def test_an_editor_writes_a_file(user: int) -> None:
    needs("vim")
    with account(user) as here:
        here.new("box", "--capsule")
        here.ask("send", "box", "--enter", "vim -u NONE -N text")
        sees(here, "text")
        here.ask("send", "box", "ihello")
        here.ask("keys", "box", "Escape")
        here.ask("send", "box", "--enter", ":wq")
        deadline = time.monotonic() + PATIENCE
        while not (here.place / "home/text").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)

        assert here.run("box", "cat text") == "hello\n"


@as_each
def test_a_multiplexer_has_terminals_of_its_own(user: int) -> None:
    needs("tmux")
    with account(user) as here:
        here.new("box", "--capsule")
        here.ask("send", "box", "--enter", "tmux -f /dev/null")
        sees(here, "[0]")
        here.ask("send", "box", "--enter", "tty")
        sees(here, "/dev/pts/1")


@as_each
def test_versions_are_kept_and_programs_are_built(user: int) -> None:
    needs("git")
    needs("cc")
    with account(user) as here:
        here.new("box", "--capsule")
        line = (
            "git init -q . && git -c user.name=a -c user.email=a@b commit -q"
            " --allow-empty -m one && git log --format=%s;"
            " echo 'int main(void) { return 7; }' >a.c && cc -o a a.c; ./a"
        )

        assert here.run("box", line, status=7) == "one\n"


@as_each
def test_the_terminal_is_what_it_says(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", "--size", "100x30")
        line = "tty; stty size; test -w /dev/tty && echo own; script -qc tty /dev/null"

        seen = here.run("box", line).split()

        assert seen == ["/dev/pts/0", "30", "100", "own", "/dev/pts/1"]


@as_each
def test_what_does_not_work_is_said_once(user: int) -> None:
    with account(user) as here:
        said = here.ask("new", "-d", "--capsule")

        assert ("sudo and su do not work" in said) is (user != 0)
