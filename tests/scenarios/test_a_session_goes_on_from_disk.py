"""A session in a capsule is put to disk and goes on from there, heap and all."""

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest
from tests.scenarios.capsules import HOLDFAST, Account, account, as_each

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)

REPL = ("--", "python3", "-q", "-i", "-c", "import os")


def lose(here: Account) -> None:
    """Kill everything of ours at once, as a machine that stops does."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in here.ours():
            os.kill(pid, number)


def shown(here: Account, name: str, text: str) -> str:
    """Wait until a text is on the screen; return the screen."""
    until = time.monotonic() + 20
    while text not in (seen := here.ask("screen", name)):
        assert time.monotonic() < until, seen
        time.sleep(0.05)
    return seen


@as_each
def test_a_stopped_session_goes_on_with_all_that_it_knew(user: int) -> None:
    with account(user) as here:
        session = here.new("box", "--capsule", *REPL)
        shown(here, "box", ">>>")
        here.ask("send", "box", "--enter", "x = 6 * 7")

        said = here.ask("checkpoint", "box", "--stop", "--json")
        made = json.loads(said)

        assert made["stopped"] is True
        assert made["image"] == f"{session}.1"
        assert here.ask("send", "box", "y", status=None)
        here.ask("restore", "-d", made["image"])
        assert here.facts("box")["incarnation"] == 2
        here.ask("send", "box", "--enter", "print('still', x)")
        assert ">>> x = 6 * 7" in shown(here, "box", "still 42")
        story = here.ask("log", "box")
        assert "saved the session to disk as image 1, and ended it" in story
        assert "restored the session from image 1 (incarnation 2)" in story


@as_each
def test_an_image_of_a_stopped_session_is_restored_once(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", *REPL)
        shown(here, "box", ">>>")
        image = json.loads(here.ask("checkpoint", "box", "--stop", "--json"))["image"]
        here.ask("restore", "-d", image)
        assert "may still have processes" in here.ask("restore", "-d", image, status=64)
        here.ask("end", "box")

        said = here.ask("restore", "-d", image, status=64)

        assert "was already restored, as incarnation 2" in said


@as_each
def test_a_session_goes_on_after_an_image_of_it(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "sleep 600 & x=1")

        said = here.ask("checkpoint", "box", "--label", "one")

        assert "it was stopped for" in said
        assert here.run("box", "echo $x; jobs -r | wc -l") == "1\n1\n"
        (listed,) = json.loads(here.ask("images", "box", "--json"))["images"]
        assert (listed["label"], listed["once"]) == ("one", False)


@as_each
def test_a_session_that_was_killed_goes_on_from_its_last_image(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "sleep 600 & x=1")
        here.ask("checkpoint", "box")
        here.run("box", "x=2")
        lose(here)

        here.ask("restore", "-d", "box")

        assert here.run("box", "echo $x; jobs -r | wc -l") == "1\n1\n"
        assert here.facts("box")["incarnation"] == 2


def test_all_that_holds_a_session_is_named_to_be_killed() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")

        named = {int(line) for line in here.ask("status", "--pids").split()}

        assert named == set(here.ours())


@contextlib.contextmanager
def attached(here: Account, name: str) -> Iterator[int]:
    """Attach as a person does; yield the terminal."""
    master, slave = pty.openpty()
    one = subprocess.Popen(
        [HOLDFAST, "attach", name],
        env=here.variables,
        cwd=here.place / "home",
        stdin=slave,
        stdout=slave,
        stderr=slave,
        **here.identity,
    )
    os.close(slave)
    try:
        yield master
    finally:
        one.kill()
        one.wait()
        os.close(master)


def printed(master: int, text: bytes) -> bytes:
    """Wait until a text is printed; return all that was until then."""
    seen, until = b"", time.monotonic() + 20
    while text not in seen:
        assert time.monotonic() < until, seen
        if select.select([master], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):
                seen += os.read(master, 65536)
    return seen


@as_each
def test_who_is_attached_is_told_where_the_session_is(user: int) -> None:
    with account(user) as here:
        session = here.new("box", "--capsule", *REPL)
        with attached(here, "box") as terminal:
            printed(terminal, b">>>")
            here.ask("checkpoint", "box", "--stop")

            printed(terminal, f"on disk as {session}.1".encode())
        assert "stopped, " in here.ask("ls")
        said = here.ask("attach", "box", status=64)
        assert f"on disk as {session}.1" in said


@as_each
@pytest.mark.parametrize(("answer", "x"), [(b"i", b"1"), (b"s", b"")])
def test_who_attaches_to_a_lost_session_may_choose_its_image(
    user: int, answer: bytes, x: bytes
) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "x=1")
        here.ask("checkpoint", "box")
        lose(here)
        said = here.ask("ls")
        assert "`holdfast restore box` restores a lost session" in said
        with attached(here, "box") as terminal:
            printed(terminal, b"i: restore the image")

            os.write(terminal, answer + b"\r")

            printed(terminal, b"turn is free")
            os.write(terminal, b'echo "<$x>"\r')
            printed(terminal, b"<" + x + b">\r\n")


@as_each
def test_who_attaches_to_a_stopped_session_may_have_it_back(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "x=1")
        here.ask("checkpoint", "box", "--stop")
        with attached(here, "box") as terminal:
            printed(terminal, b"Restore it?")

            os.write(terminal, b"y\r")

            printed(terminal, b"turn is free")
            os.write(terminal, b'echo "<$x>"\r')
            printed(terminal, b"<1>\r\n")


@as_each
def test_who_is_attached_stays_so_through_an_image(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", *REPL)
        with attached(here, "box") as terminal:
            printed(terminal, b">>>")
            os.write(terminal, b"x = 20 + 1\r")
            here.ask("checkpoint", "box")
            os.write(terminal, b"print(x * 2)\r")

            printed(terminal, b"42\r\n")


@as_each
def test_what_was_stopped_and_what_was_typed_ahead_stay_so(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")
        here.run("box", "sleep 600 & kill -STOP $!; sleep 601 &")
        here.ask("send", "box", "--enter", "sleep 3")
        here.ask("send", "box", "--enter", "echo after; jobs")
        here.ask("checkpoint", "box", "--stop")

        here.ask("restore", "-d", "box")

        seen = shown(here, "box", "Running")
        assert "after" in seen
        assert "Stopped" in seen
        here.ask("send", "box", "--enter", "kill -9 %1 %2; exec sh -c 'exit 7'")
        here.ask("wait", "box", "--for", "exit", status=None)
        assert here.facts("box")["exit"] == 7


@as_each
def test_an_image_that_was_changed_starts_nothing(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule", *REPL)
        shown(here, "box", ">>>")
        here.ask("checkpoint", "box", "--stop")
        (pages,) = here.place.glob("**/images/*/1/criu/pages-1.img")
        raw = bytearray(pages.read_bytes())
        raw[len(raw) // 2] ^= 1
        pages.write_bytes(raw)

        said = here.ask("restore", "-d", "box", status=76)

        assert "criu/pages-1.img was changed" in said
        assert "stopped, " in here.ask("ls")


@as_each
def test_an_image_that_is_removed_leaves_a_session_that_was_lost(user: int) -> None:
    with account(user) as here:
        session = here.new("box", "--capsule", *REPL)
        shown(here, "box", ">>>")
        here.ask("checkpoint", "box", "--stop")
        assert "it is on disk" in here.ask("recover", "-d", "box", status=64)

        here.ask("images", "rm", f"{session}.1")

        assert here.ask("images") == ""
        assert "no image" in here.ask("restore", "-d", "box", status=64)
        here.ask("recover", "-d", "box")


@as_each
def test_a_plain_session_and_one_with_a_blocker_go_on(user: int) -> None:
    with account(user) as here:
        here.new("plain")
        said = here.ask("checkpoint", "plain", status=64)
        assert "it is not in a capsule" in said
        here.new("box", "--capsule")
        here.run("box", "exec 9</dev/tty")

        assert "/dev/tty" in here.ask("checkpoint", "box", "--stop", status=64)

        assert here.run("box", "exec 9<&-; echo on") == "on\n"
        here.ask("checkpoint", "box")


PROGRAM = """
import holdfast
with holdfast.sync.connect() as host:
    with host.attach("box") as session:
        session.run("x=41")
        made = session.checkpoint(stop=True, label="by a program")
    with host.restore(made.image) as again:
        print(again.run("echo $x").output, made.stopped)
"""


def test_a_program_does_the_same_with_the_sdk() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")
        here.run("box", "true")

        assert here.python(PROGRAM).split() == ["41", "True"]
