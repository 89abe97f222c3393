"""A secret that `answer` types is read by the program that asks, and kept by nobody."""

import contextlib
import json
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.client import calls
from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotWaiting, WouldBeShown
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties

CANARY = b"kanarienvogel-4711"
"""What is looked for; no source and no test prints it anywhere else."""

ASK = "read -s secret; test ${#secret} = 18 && printf 'ta''ken\\n'\r"

RAW = f"{sys.executable} -c 'import sys, tty; tty.setraw(0); sys.stdin.read()'\r"
EDITED = f"{sys.executable} -c 'import readline; input()'\r"

HOLDFAST = (sys.executable, "-m", "holdfast")


POLICY = '[[rule]]\nname = "ask"\nverdict = "ask"\ninput = "answer"\n'


@pytest.fixture
def folder() -> Path:
    # Short, as the path of a socket must be; the machine removes it.
    return Path(tempfile.mkdtemp(prefix="hf"))


@pytest.fixture
def here(folder: Path) -> Iterator[Machine]:
    with machine(str(folder)) as made:
        yield made


def asking(here: Machine, line: str = ASK) -> tuple[SessionId, Client]:
    """Return a session in which a program waits for a secret."""
    session = here.new("bash", "--norc", "-i")
    client = here.join(session)
    becomes(session, "at-prompt")
    client.enter(line.encode())
    becomes(session, "waiting-for-secret")
    return session, client


def becomes(session: SessionId, word: str) -> None:
    eventually(word, lambda: calls.state(session).state == word)


def answer(
    session: str, secret: bytes, *more: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*HOLDFAST, "answer", session, *more],
        input=secret + b"\n",
        capture_output=True,
        check=False,
    )


def where_it_is(folder: Path) -> list[str]:
    """Return every file and process in which the secret is to be found."""
    places = [path for path in folder.rglob("*") if path.is_file()]
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) != os.getpid():
            places += [process / "cmdline", process / "environ"]
    found = []
    for path in places:
        with contextlib.suppress(OSError):
            if CANARY in path.read_bytes():
                found.append(str(path))
    return found


def test_t67_an_answer_is_in_no_file_no_command_line_and_no_output(
    here: Machine, folder: Path
) -> None:
    session, client = asking(here)

    done = answer(session, CANARY, "--json")
    assert done.returncode == 0, done.stderr
    output = client.wait_output(b"taken\r\n")
    assert CANARY not in done.stdout + done.stderr + output
    assert json.loads(done.stdout)["session"] == session
    here.replace_holder(session)
    for words in (["log", session], ["log", session, "--json"], ["read", session]):
        told = subprocess.run([*HOLDFAST, *words], capture_output=True, check=False)
        assert told.stdout
        assert CANARY not in told.stdout + told.stderr
    assert where_it_is(folder) == []


def test_t67_what_stands_half_typed_is_not_shown_to_whoever_comes_next(
    here: Machine, folder: Path
) -> None:
    session = here.new("bash", "--norc", "-i")
    client = here.join(session)
    becomes(session, "at-prompt")
    client.enter(RAW.encode())
    becomes(session, "waiting-for-input")
    client.submit(CANARY, InputKind.ANSWER)
    assert isinstance(client.settle_through_cuts(), wire.Acknowledge)

    for name in ("ann", "ben"):
        other = here.join(session, name)
        assert other.request(wire.Seize(wire.Halt.NONE)) is None
        inherited = other.wait(parties.Inherited)
        assert CANARY not in inherited.staged
        other.close()
        here.replace_holder(session)
    assert where_it_is(folder) == []


def test_whoever_approves_an_answer_sees_its_length_and_nothing_else(
    here: Machine,
) -> None:
    apply_policy(POLICY)
    session, client = asking(here)
    boss = here.join(session, "boss", ActorKind.HUMAN)

    client.submit(CANARY + b"\r", InputKind.ANSWER)
    pending = boss.wait(wire.Pending)
    assert (pending.size, pending.excerpt) == (len(CANARY) + 1, b"")
    assert (
        boss.request(wire.Approve(pending.ticket, pending.epoch, pending.digest))
        is None
    )
    client.wait_output(b"taken\r\n")


def test_an_answer_is_not_let_through_once_the_program_has_given_up(
    here: Machine,
) -> None:
    apply_policy(POLICY)
    session, client = asking(here)
    boss = here.join(session, "boss", ActorKind.HUMAN)
    client.submit(CANARY + b"\r", InputKind.ANSWER)
    pending = boss.wait(wire.Pending)
    os.kill(here.pid("leader", session), 2)
    becomes(session, "at-prompt")

    refused = boss.request(wire.Approve(pending.ticket, pending.epoch, pending.digest))
    assert refused is not None
    assert refused.code == NotWaiting.code
    assert CANARY not in client.output


@pytest.mark.parametrize(
    ("line", "word", "code"),
    [
        ("", "at-prompt", NotWaiting.code),
        ("sleep 99\r", "running", NotWaiting.code),
        ("read x\r", "waiting-for-input", WouldBeShown.code),
        (EDITED, "waiting-for-input", WouldBeShown.code),
    ],
)
def test_a_secret_is_not_typed_where_it_would_be_seen_or_run(
    here: Machine, line: str, word: str, code: str
) -> None:
    session = here.new("bash", "--norc", "-i")
    client = here.join(session)
    becomes(session, "at-prompt")
    client.enter(line.encode() or b" ")
    becomes(session, word)

    done = answer(session, CANARY, "--json")
    assert done.returncode == 75
    assert json.loads(done.stderr)["error"]["code"] == code
    client.submit(CANARY + b"\r", InputKind.ANSWER)
    if line != EDITED:  # A line editor is known to nobody but itself.
        refused = client.settle_through_cuts()
        assert isinstance(refused, wire.Refuse)
        assert refused.code == code
        assert CANARY not in client.output


def test_a_secret_typed_at_a_terminal_is_not_echoed_there(here: Machine) -> None:
    session, client = asking(here)
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover  # another process
        os.execv(sys.executable, [*HOLDFAST, "answer", session])  # noqa: S606
    shown = b""
    while b"answer: " not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, CANARY + b"\r")

    client.wait_output(b"taken\r\n")
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 4096):
            shown += piece
    assert os.waitpid(child, 0)[1] == 0
    os.close(terminal)
    assert CANARY not in shown
    assert b"bash" in shown


def test_a_frozen_session_takes_no_answer(here: Machine) -> None:
    session, client = asking(here)
    assert client.request(wire.Freeze()) is None

    done = answer(session, CANARY)
    assert done.returncode == 75
    assert b"frozen" in done.stderr
    assert client.request(wire.Thaw()) is None
    becomes(session, "waiting-for-secret")
    assert answer(session, CANARY).returncode == 0
