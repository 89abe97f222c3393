"""An input goes in once, or what is not known of it is said, whoever is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios import witness
from tests.scenarios.killing import OURS, kill_amid, moments, reader, victim_of
from tests.scenarios.support import Machine, eventually, machine

from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        try:
            yield made
        finally:
            witness.end_marked()


# ── write ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("victim", OURS)
def test_an_input_goes_in_once_or_is_reported(
    here: Machine, tmp_path: Path, victim: str
) -> None:
    session, read = reader(here, tmp_path)
    client = here.join(session)
    client.wait_output(b"ready")
    settled: list[tuple[bytes, object]] = []

    for number, moment in enumerate(moments(victim) * 2):
        word = b"word-%03d" % number
        pid = victim_of(here, victim, session)
        kill_amid(pid, moment, client.submit, word + b"\r")
        settled.append((word, client.settle_through_cuts()))
    client.enter(b"last\r")
    client.wait_output(b"last")

    words = read.read_bytes().split()
    assert_once(words, settled)
    here.wait_whole(session)
    witness.all_is_tidy(here)


def assert_once(words: list[bytes], settled: list[tuple[bytes, object]]) -> None:
    assert words == [*sorted(set(words) - {b"last"}), b"last"]
    for word, answer in settled:
        if isinstance(answer, wire.Acknowledge):
            assert word in words, (word, answer)
        else:
            assert isinstance(answer, wire.Report), answer
            assert answer.outcome in ("unknown", "dropped"), answer
            assert answer.outcome == "unknown" or word not in words, answer


def test_an_input_without_an_answer_can_be_asked_for_by_its_id(
    here: Machine, tmp_path: Path
) -> None:
    session, read = reader(here, tmp_path)

    for number, moment in enumerate(moments("holder")[1:] * 3):
        client = here.join(session)
        client.submit(b"word-%03d\r" % number)
        time.sleep(moment or 0.0)
        client.close()  # All that a holder sees of a client that was killed.
        answer = client.settle_through_cuts()
        assert isinstance(answer, wire.Acknowledge), answer
        client.close()
    final = here.join(session)
    final.enter(b"last\r")
    final.wait_output(b"last")

    expected = [b"word-%03d" % number for number in range(21)]
    assert read.read_bytes().split() == [*expected, b"last"]


# ── resize ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("victim", OURS)
def test_a_size_is_the_same_for_program_client_and_keeper(
    here: Machine, tmp_path: Path, victim: str
) -> None:
    session, _ = reader(here, tmp_path)
    client = here.join(session)
    leader = here.pid("leader", session)

    for number, moment in enumerate(moments(victim)):
        wanted = (60 + number, 20 + number)
        payload = b"%dx%d" % wanted
        before = witness.terminal_size(leader)
        pid = victim_of(here, victim, session)
        kill_amid(pid, moment, client.submit, payload, InputKind.RESIZE)
        answer = client.settle_through_cuts()
        here.wait_whole(session)
        now = witness.terminal_size(leader)
        assert now == wanted or (isinstance(answer, wire.Report) and now == before), (
            now,
            answer,
        )
        attached = client.attach()
        assert (attached.size.columns, attached.size.rows) == now
        wait_size(here, session, now)


def test_a_size_nobody_was_told_of_is_found_in_the_terminal(
    here: Machine, tmp_path: Path
) -> None:
    session, _ = reader(here, tmp_path)
    leader = here.pid("leader", session)
    witness.resize_terminal(leader, 91, 17)

    here.replace_holder(session)

    client = here.join(session)
    attached = client.attach()
    assert (attached.size.columns, attached.size.rows) == (91, 17)
    wait_size(here, session, (91, 17))


def wait_size(here: Machine, session: SessionId, size: tuple[int, int]) -> None:
    def is_known() -> bool:
        facts = here.facts(session)
        return facts is not None and facts["size"] == [*size]

    eventually(f"the keeper knows of {size}", is_known)


# ── the client is the command line ────────────────────────────────────────


@pytest.mark.parametrize(
    "words",
    [
        ("new", "--detach", "--", "sleep", "600"),
        ("attach", "it"),
        ("send", "it", "--enter", "word"),
        ("resize", "it", "90x30"),
        ("read", "it"),
        ("end", "it"),
    ],
    ids=lambda words: words[0],
)
def test_the_death_of_a_client_is_nobodys(
    here: Machine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    session, read = reader(here, tmp_path)
    assert here.ask(do="rename", id=session, name="it")["ok"]
    client = here.join(session)
    client.wait_output(b"ready")

    for step in range(12):
        command = [sys.executable, "-m", "holdfast", *words]
        env = {**os.environ, witness.MARK: witness.mark()}
        killed = subprocess.Popen(
            command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(0.06 + step * 0.015)
        killed.kill()
        killed.wait()

    witness.all_is_tidy(here)
    if words[0] != "end":
        client.enter(b"last\r")
        client.wait_output(b"last")
        assert set(read.read_bytes().split()) <= {b"word", b"last"}
        assert read.read_bytes().count(b"word") <= 12
        assert witness.terminal_size(here.pid("leader", session)) in (
            (80, 24),
            (90, 30),
        )


def test_a_creation_that_died_with_the_keeper_is_called_unknown(here: Machine) -> None:
    keeper = here.pid("keeper")
    os.kill(keeper, signal.SIGSTOP)
    command = [sys.executable, "-m", "holdfast", "new", "--detach", "--", "sleep", "60"]

    with subprocess.Popen(command, stderr=subprocess.PIPE) as asking:
        eventually("it has asked", lambda: is_waiting(asking.pid))
        os.kill(keeper, signal.SIGKILL)
        assert asking.stderr is not None
        said = asking.stderr.read()

    assert asking.returncode == 75
    assert b"is not known" in said
    assert b"holdfast ls" in said


def is_waiting(pid: int) -> bool:
    """Tell whether a client has sent its request and waits for the answer."""
    queue = Path(f"/proc/{pid}/wchan").read_text()
    return "unix" in queue or "skb" in queue or "poll" in queue
