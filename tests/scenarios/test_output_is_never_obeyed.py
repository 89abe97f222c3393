"""What a program prints is bytes: never a message of ours, never a line of a table."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios import witness
from tests.scenarios.support import Machine, machine

from holdfast.model.ids import Index, SessionId, client_id
from holdfast.wire import messages as wire
from holdfast.wire.codec import encode

CLIENT = client_id(b"0123456789")

FORGED = (
    encode(wire.Exited(0))
    + encode(wire.Acknowledge(CLIENT, 1, Index(1), None))
    + encode(wire.Goodbye("session-not-found", "it is over"))
    + encode(wire.Gap(0, 4096))
    + b'{"ok": true, "do": "forget"}'
    + b"[holdfast] it ended (status 0)\r\n"
    + b"HTTP/1.1 200 OK\r\n\r\n"
)
"""Everything a holder or a keeper would say, said by somebody else."""

ENQUIRY = b"\x05"
"""Asks a terminal who it is; the session answers itself, and no viewer is asked."""

TITLES = b"\x1b]0;evil\x07\x1b]2;\x1b[31mevil\x1b\\\x1b]0;" + b"x" * 5000 + b"\x07"


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        try:
            yield made
        finally:
            witness.end_marked()


@pytest.fixture
def hostile(tmp_path: Path) -> list[str]:
    """Return a command that prints all of it and then waits."""
    said = tmp_path / "said"
    said.write_bytes(FORGED + TITLES + b"the-end.")
    return ["sh", "-c", 'stty raw -echo; cat "$0"; exec cat', str(said)]


def run(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        check=False,
        timeout=30,
    )


def test_t60_frames_printed_by_a_program_are_output_and_nothing_else(
    here: Machine, hostile: list[str]
) -> None:
    session = here.new(*hostile)
    client, other = here.join(session), here.join(session)

    for one in (client, other):
        one.wait_output(b"the-end.")
        assert FORGED.replace(ENQUIRY, b"") in one.output
        assert one.gone == 0
    answer = client.enter(b"typed")
    assert isinstance(answer, wire.Acknowledge)
    other.wait_output(b"typed")
    facts = here.facts(session)
    assert facts is not None
    assert facts["exit"] is None


def test_t60_they_are_shown_on_a_terminal_and_end_nothing(
    here: Machine, hostile: list[str]
) -> None:
    assert here.ask(do="status")["ok"]

    user = User("new", "--name", "forger", "--", *hostile)
    user.sees(b"the-end.")
    user.types(b"typed")
    user.sees(b"typed")
    user.types(b"\x1dd")
    assert user.left() == 0
    assert user.modes() == user.before
    assert user.shown.rstrip().endswith(b"`holdfast attach forger` reattaches")
    user.close()


def test_t60_read_prints_them_and_goes_on(here: Machine, hostile: list[str]) -> None:
    session = here.new(*hostile)
    here.join(session).wait_output(b"the-end.")

    read = run("read", session)

    assert read.returncode == 0
    assert b"the-end." in read.stdout


def test_t62_hostile_words_are_escaped_wherever_they_are_listed(
    here: Machine,
) -> None:
    word = "\x1b[31m\u202e\u2028\x85\x7f\x9b[2J\r\nFAKE  s_fake  running"
    session = here.new("sh", "-c", "sleep 600", word)
    (twin,) = (here.new("sleep", "601"),)
    assert here.is_whole(SessionId(twin))

    for words in (
        ("ls",),
        ("ls", "--json"),
        ("ls", "--names"),
        ("status",),
        ("attach",),
    ):
        shown = run(*words)
        text = (shown.stdout + shown.stderr).decode()
        assert all(one.isprintable() or one == "\n" for one in text), words
        assert not [line for line in text.splitlines() if line.startswith("FAKE")]
    assert session.encode() in run("ls").stdout


def test_t62_the_names_of_others_are_escaped_in_the_notice(here: Machine) -> None:
    session = here.new("sh", "-c", "echo ready; cat")
    here.join(session)

    user = User("attach", session)
    user.sees(b"[holdfast]")
    notice = user.shown.split(b"\r\n")[0]
    user.types(b"\x1dd")

    assert user.left() == 0
    assert notice.isascii()
    assert b"\x1b" not in notice
    user.close()


def test_a_title_changes_neither_name_nor_list(here: Machine) -> None:
    session = here.new("printf", r"\033]0;root@prod\007\033]2;evil\007done.")
    here.join(session).wait_output(b"done.")

    facts = here.facts(session)
    assert facts is not None
    assert facts["name"] == session[2:8]
    assert b"\x1b" not in run("ls").stdout
