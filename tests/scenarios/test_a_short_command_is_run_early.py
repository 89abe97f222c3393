"""`run` and `end` load little for what is short, and leave what is not."""

import base64
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell, wait_phase
from tests.scenarios.starts import book
from tests.scenarios.support import Machine, machine

from holdfast.core.book.logbook import EntryKind
from holdfast.model.ids import SessionId

SLOW = {"argparse", "msgspec", "dataclasses", "re", "socket", "typing"}

PROGRAM = """
import sys
from holdfast.cli import start
said = start._begun(start.EARLY["run"], sys.argv[1:])
print(repr(said), getattr(said, "status", None), *sys.modules)
"""


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def bash(here: Machine, tmp_path: Path) -> SessionId:
    return shell(here, tmp_path)


def early(session: SessionId, *words: str) -> tuple[str, str, set[str]]:
    """Return what is printed early, the status, and what was loaded for it."""
    program = [sys.executable, "-c", PROGRAM, session, *words]
    told = subprocess.check_output(program, text=True).rpartition("'")
    said, (status, *modules) = f"{told[0]}'", told[2].split()
    return said, status, set(modules)


def ended(session: SessionId) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-m", "holdfast", "end", session]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def ran(session: SessionId, *words: str) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-m", "holdfast", "run", session, *words]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def typed(session: SessionId) -> list[str]:
    """Return the lines that were typed, by the book."""
    return [
        base64.b64decode(str(one.fields["data"])).decode()
        for one in book(session)
        if one.kind is EntryKind.INPUT and one.fields["input"] == "command"
    ]


def test_it_needs_little_and_says_the_same(bash: SessionId) -> None:
    said, status, loaded = early(bash, "echo one; echo two; (exit 3)")

    assert (said, status) == (r"'one\ntwo\n'", "3")
    assert not loaded & SLOW
    again = ran(bash, "echo one; echo two; (exit 3)")
    assert (again.stdout, again.stderr, again.returncode) == ("one\ntwo\n", "", 3)


def test_it_is_signed_and_gives_the_turn_back(bash: SessionId, here: Machine) -> None:
    early(bash, "true")

    book_says = [one.kind for one in book(bash)]
    assert book_says.count(EntryKind.SIGNED) == 1
    assert here.join(bash).attach().holder == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("printf 'a\\033[1mb\\n'", "ab\n"),
        ("echo first; sleep 0.4; echo last", "first\nlast\n"),
        ("sleep 0.3", ""),
        ("seq 30000 | tail -c 100000", None),
    ],
)
def test_what_is_left_is_typed_once_and_printed_once(
    bash: SessionId, line: str, said: str | None
) -> None:
    done = ran(bash, line)

    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == said or (said is None and len(done.stdout) == 100_000)
    assert typed(bash) == [line + "\r"]


def test_a_session_that_ends_with_it_is_told_as_ever(bash: SessionId) -> None:
    done = ran(bash, "exit 3")

    assert done.returncode == 64
    assert "it ended with status 3 while the command ran" in done.stderr


def test_where_somebody_else_has_the_turn_nothing_is_typed(
    bash: SessionId, here: Machine
) -> None:
    other = here.join(bash, "anna")
    other.enter(b"\r")
    wait_phase(bash, "prompt")

    done = ran(bash, "true")

    assert done.returncode == 77
    assert typed(bash) == []


def test_a_session_is_ended_as_quickly_and_its_record_is_gone(
    bash: SessionId, here: Machine
) -> None:
    done = ended(bash)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("has ended\n")
    assert here.facts(bash) is None


def test_a_session_that_ignores_it_is_waited_for(here: Machine) -> None:
    # Longer than what is done early waits.
    stubborn = here.new("sh", "-c", "trap 'sleep 1.3; exit' HUP; echo on; read x")
    here.join(stubborn).wait_output(b"on")

    done = ended(stubborn)

    assert (done.returncode, done.stderr) == (0, "")
    assert here.facts(stubborn) is None
