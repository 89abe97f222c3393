"""What waits at the exec gate outlives whoever was to answer, and is answered once."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.kernels import can_hold_execs
from tests.scenarios.gated import (
    agent,
    approval,
    execs,
    gated,
    run,
    write_policy,
)
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.linux import procfs
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties

pytestmark = pytest.mark.skipif(
    not can_hold_execs(), reason="this kernel cannot hold an exec"
)


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        write_policy()
        yield made


class Asking:
    """A bot that wants to touch a file, and a human who is asked."""

    def __init__(self, here: Machine, folder: Path, line: str = "touch made") -> None:
        self.session = gated(here, cwd=str(folder))
        self.made = folder / "made"
        self.anna = here.join(self.session)
        self.bot = agent(here, self.session)
        self.bot.wait_output(b"$ ")
        self.bot.enter(f"{line}; echo en''ded $?\r".encode())
        self.pending = self.anna.wait(wire.Pending)

    def wait_status(self, status: int) -> None:
        self.bot.wait_output(f"ended {status}\r".encode())

    def find(self, here: Machine) -> int:
        """Return the process that stands at the gate: nobody is below it."""
        found = here.pid("leader", self.session)
        while children := procfs.read(f"/proc/{found}/task/{found}/children", 4096):
            found = int(children.split()[0])
        return found


@pytest.fixture
def asking(here: Machine, tmp_path: Path) -> Asking:
    return Asking(here, tmp_path)


def again(client: Client) -> wire.Pending:
    """Return what waits, as whoever comes back is told."""
    return eventually("it waits", lambda: client.who().pending)[0]


def test_an_exec_is_shown_with_its_program_and_its_words(asking: Asking) -> None:
    pending = asking.pending

    assert pending.program.endswith("/touch")
    assert pending.excerpt == b"touch made"
    assert pending.rule == "ask-first"
    assert asking.anna.who().pending == (pending,)


def test_an_approved_exec_happens_and_is_on_record(asking: Asking) -> None:
    assert asking.anna.request(approval(asking.pending)) is None

    asking.wait_status(0)
    assert asking.made.exists()
    assert asking.anna.who().pending == ()
    entry = execs(asking.session)[0]
    assert (entry.fields["as"], entry.fields["by"]) == (
        "approved",
        asking.anna.operator.actor.id,
    )


def test_a_denied_exec_fails_and_is_on_record(asking: Asking) -> None:
    pending = asking.pending
    assert asking.anna.request(wire.Deny(pending.ticket, pending.digest)) is None

    asking.wait_status(126)
    assert not asking.made.exists()
    assert execs(asking.session)[0].fields["code"] == "denied-by-operator"


def test_whoever_is_behind_an_exec_does_not_approve_it(asking: Asking) -> None:
    refused = asking.bot.request(approval(asking.pending))

    assert refused is not None
    assert refused.code in ("not-allowed", "self-approval")
    assert not asking.made.exists()


def test_an_approval_of_other_words_lets_nothing_happen(asking: Asking) -> None:
    pending = asking.pending
    other = wire.Approve(pending.ticket, pending.epoch, bytes(32))

    refused = asking.anna.request(other)

    assert refused is not None
    assert refused.code == "approval-mismatch"
    assert not asking.made.exists()


@pytest.mark.parametrize("victim", ["holder", "keeper", "nursery"])
def test_an_exec_that_waits_does_not_notice_who_dies(
    here: Machine, asking: Asking, victim: str
) -> None:
    here.kill(victim, asking.session if victim == "holder" else None)
    asking.anna.attach()

    pending = again(asking.anna)
    assert asking.anna.request(approval(pending)) is None

    asking.wait_status(0)
    assert asking.made.exists()


def test_execs_wait_while_there_is_no_holder_and_then_happen(
    here: Machine, tmp_path: Path
) -> None:
    session = gated(here, cwd=str(tmp_path))
    anna = here.join(session)
    run(anna, "true")
    anna.enter(b"for i in 1 2 3 4 5 6 7 8 9; do sleep 0.05; mkdir d$i; done\r")

    for _ in range(3):
        here.replace_holder(session)

    eventually("all are made", (tmp_path / "d9").exists)
    assert sum(one.is_dir() for one in tmp_path.iterdir()) == 9


def test_a_process_that_is_killed_while_it_waits_waits_no_more(
    here: Machine, asking: Asking
) -> None:
    os.kill(asking.find(here), signal.SIGKILL)

    asking.wait_status(137)
    eventually("nothing waits", lambda: not asking.anna.who().pending)
    assert asking.anna.request(approval(asking.pending)) is not None
    assert not asking.made.exists()


def test_a_frozen_session_stands_still_and_its_exec_waits(
    here: Machine, asking: Asking
) -> None:
    assert asking.anna.request(wire.Freeze()) is None
    assert eventually("frozen", lambda: _state(here, asking) == "frozen")

    assert asking.anna.request(wire.Thaw()) is None

    assert eventually("running", lambda: _state(here, asking) == "running")
    assert asking.anna.request(approval(again(asking.anna))) is None
    asking.wait_status(0)


def _state(here: Machine, asking: Asking) -> object:
    facts = here.facts(asking.session)
    return facts and facts["state"]


def test_what_is_approved_while_all_stands_still_happens_after_a_thaw(
    asking: Asking,
) -> None:
    assert asking.anna.request(wire.Freeze()) is None
    assert asking.anna.request(approval(again(asking.anna))) is None
    assert not asking.made.exists()

    assert asking.anna.request(wire.Thaw()) is None

    asking.wait_status(0)
    assert asking.made.exists()


def test_a_signal_to_whoever_waits_leaves_it_waiting(
    here: Machine, tmp_path: Path
) -> None:
    # Below a shell that keeps no jobs, which does not care who is stopped.
    asking = Asking(here, tmp_path, "sh -c 'touch made; :'")
    pid = asking.find(here)

    for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGSTOP, signal.SIGCONT):
        os.kill(pid, number)

    assert asking.anna.request(approval(again(asking.anna))) is None
    asking.wait_status(0)
    assert asking.made.exists()


def test_a_seize_leaves_an_exec_waiting_for_whoever_may_approve(
    asking: Asking,
) -> None:
    assert asking.anna.request(wire.Seize(wire.Halt.NONE)) is None

    assert asking.anna.who().pending == (asking.pending,)
    assert asking.anna.request(approval(asking.pending)) is None
    eventually("it happens", asking.made.exists)


def test_many_execs_at_once_all_happen_and_the_session_stays_live(
    here: Machine, tmp_path: Path
) -> None:
    session = gated(here, cwd=str(tmp_path))
    anna, bot = here.join(session), agent(here, session)
    run(bot, "true")
    bot.output = b""
    line = "seq 1000 | xargs -P 50 -n 1 sh -c 'exec /bin/mkdir d$0'"
    bot.enter(f"{line}; echo en''ded $?\r".encode())

    while b"ended 0\r" not in bot.output:
        assert anna.who().holder == bot.operator.actor.id
        bot._receive(0.05)  # noqa: SLF001  # a little at a time

    assert len([*tmp_path.iterdir()]) == 1000


def codes(session: SessionId) -> set[object]:
    return {entry.fields["code"] for entry in execs(session)}


def test_more_execs_than_may_wait_are_refused_and_the_others_wait(
    here: Machine, tmp_path: Path
) -> None:
    session = gated(here, cwd=str(tmp_path))
    anna, bot = here.join(session), agent(here, session)
    run(bot, "true")
    bot.output = b""

    bot.enter(b"for i in $(seq 40); do touch f$i & done; wait; echo en''ded $?\r")
    most = parties.MAX_PENDING
    eventually("a list is full", lambda: len(anna.who().pending) == most)
    eventually("no more may wait", lambda: "too-many-pending" in codes(session))

    def approved() -> bool:
        for waiting in anna.who().pending:
            anna.request(approval(waiting))
        bot.who()
        return b"ended " in bot.output

    eventually("all are answered", approved)
    assert 16 <= len([*tmp_path.iterdir()]) < 40


def test_a_flood_of_refusals_does_not_fill_the_book(
    here: Machine, tmp_path: Path
) -> None:
    session = gated(here, cwd=str(tmp_path))
    bot = agent(here, session)

    run(bot, "for i in $(seq 300); do /bin/rm x$i; done 2>/dev/null")

    def counted() -> int:
        return sum(int(entry.fields["count"] or 0) for entry in execs(session))

    eventually("all are counted", lambda: counted() == 300)
    assert len(execs(session)) < 150
