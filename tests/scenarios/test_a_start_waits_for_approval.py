"""A start that is asked about runs when it was approved, and never otherwise."""

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.agents import WHY, agent
from tests.scenarios.gated import write_policy
from tests.scenarios.starts import (
    ASK,
    a_machine,
    a_marker,
    approve,
    asked,
    book,
    bot,
    cli,
    ended,
    eventually_waiting,
    held,
    interruptible,
    is_attached,
    new,
    sessions_of,
    state,
    text_of,
    touching,
    wait_attached,
    waiting,
)
from tests.scenarios.support import Machine, eventually

import holdfast
from holdfast.core.book.logbook import EntryKind
from holdfast.model.actors import ActorKind
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

__all__ = ["a_machine", "a_marker"]


def test_what_was_approved_runs_and_nothing_before(here: Machine, marker: Path) -> None:
    write_policy(ASK)
    waits = held(here, marker)
    boss = here.join(waits.session, "boss", ActorKind.HUMAN)

    pending = boss.wait(wire.Pending)

    assert pending.kind is InputKind.START
    assert pending.excerpt == waits.text
    assert pending.actor == bot()
    assert f"echo $$ >> {marker}" in waits.text.decode()
    assert state(here, waits.session) == "starting"
    assert not marker.exists()
    yes = wire.Approve(pending.ticket, pending.epoch, pending.digest)
    assert boss.request(yes) is None
    eventually("it runs", marker.exists)
    eventually("it is said", lambda: state(here, waits.session) == "running")
    eventually("it has run", lambda: marker.read_text().split())
    assert len(marker.read_text().split()) == 1
    (begun,) = [one for one in book(waits.session) if one.kind is EntryKind.INPUT]
    assert begun.fields["approver"] == boss.operator.actor.id
    assert text_of(begun).encode() == waits.text


def test_the_agent_cannot_approve_its_own_start(here: Machine, marker: Path) -> None:
    write_policy(ASK)
    waits = held(here, marker)
    itself = here.join(waits.session, "bot", ActorKind.AGENT)

    pending = itself.wait(wire.Pending)
    yes = wire.Approve(pending.ticket, pending.epoch, pending.digest)

    assert isinstance(itself.request(yes), wire.Refuse)
    assert not marker.exists()


def test_what_was_denied_by_a_person_never_runs(here: Machine, marker: Path) -> None:
    write_policy(ASK)
    started = new(*touching(marker))
    session = eventually("it waits", lambda: waiting(here))
    boss = here.join(session, "boss", ActorKind.HUMAN)
    pending = boss.wait(wire.Pending)

    assert boss.request(wire.Deny(pending.ticket, pending.digest)) is None

    status, said = ended(started)
    assert status == 77, said
    assert "waiting for approval of" in said
    eventually("it is over", lambda: state(here, session) == "exited")
    assert not marker.exists()


def test_who_gives_up_waiting_withdraws_it(here: Machine, marker: Path) -> None:
    write_policy(ASK)
    started = interruptible(*touching(marker))
    session = eventually("it waits", lambda: waiting(here))
    eventually("it is asked", lambda: is_attached(here, session))

    started.send_signal(signal.SIGINT)

    assert ended(started)[0] != 0
    eventually("it is over", lambda: state(here, session) == "exited")
    assert not marker.exists()


def test_who_gives_up_before_anybody_answers_withdraws_it(
    here: Machine, marker: Path
) -> None:
    write_policy(ASK)
    started = interruptible(*touching(marker))
    session = eventually("it waits", lambda: waiting(here))
    holder = here.pid("holder", session)
    os.kill(holder, signal.SIGSTOP)
    assert started.stderr is not None
    assert "waiting for approval of" in started.stderr.readline()

    started.send_signal(signal.SIGINT)
    os.kill(holder, signal.SIGCONT)

    assert ended(started)[0] != 0
    eventually("it is over", lambda: state(here, session) == "exited")
    assert not marker.exists()


def test_a_start_waits_no_longer_than_it_was_told_to(
    here: Machine, marker: Path
) -> None:
    write_policy(ASK)
    words = ["--as", "bot", "new", "--detach", "--timeout", "1", "--"]

    status, said = ended(cli(*words, *touching(marker)))

    assert status == 75, said
    (only,) = sessions_of(here)
    eventually("it is over", lambda: state(here, only) == "exited")
    assert not marker.exists()


def test_an_agent_that_waits_by_mcp_is_told_when_it_began(
    here: Machine, marker: Path
) -> None:
    write_policy(ASK + '[[rule]]\nverdict = "allow"\nkind = "agent"\n')

    async def story() -> tuple[str, dict[str, Any]]:
        async with agent() as one:
            begun = one.begin("create_session", command=touching(marker), intent=WHY)
            loop = asyncio.get_running_loop()
            session = await loop.run_in_executor(None, eventually_waiting, here)
            assert await loop.run_in_executor(None, approve, here, session) is None
            return session, await begun

    session, told = asyncio.run(story())
    assert told["id"] == session
    assert marker.exists()


def test_an_agent_that_gives_up_by_the_sdk_withdraws_it(
    here: Machine, marker: Path
) -> None:
    write_policy(ASK)

    async def story() -> None:
        async with holdfast.connect(operator="bot") as host:
            loop = asyncio.get_running_loop()
            creating = loop.create_task(host.create(touching(marker)))
            session = await loop.run_in_executor(None, eventually_waiting, here)
            await loop.run_in_executor(None, wait_attached, here, session)
            creating.cancel()
            with pytest.raises(asyncio.CancelledError):
                await creating
            with pytest.raises(HoldfastError):
                await host.create(touching(marker), timeout=0.5)

    asyncio.run(story())
    made = sessions_of(here)
    eventually("over", lambda: {state(here, one) for one in made} == {"exited"})
    assert not marker.exists()


@pytest.mark.parametrize("victim", ["holder", "keeper", "nursery", "trustee"])
def test_an_approval_counts_whoever_of_ours_was_killed_meanwhile(
    here: Machine, marker: Path, victim: str
) -> None:
    write_policy(ASK)
    waits = held(here, marker)
    here.kill(victim, waits.session if victim == "holder" else None)
    here.wait_whole(waits.session)

    assert not marker.exists()
    assert approve(here, waits.session) is None
    eventually("it runs", marker.exists)
    eventually("it has run", lambda: marker.read_text().split())
    assert len(marker.read_text().split()) == 1


def test_a_denial_counts_after_the_holder_was_killed(
    here: Machine, marker: Path
) -> None:
    write_policy(ASK)
    waits = held(here, marker)
    boss = here.join(waits.session, "boss", ActorKind.HUMAN)
    here.replace_holder(waits.session)
    boss.attach()
    pending = boss.wait(wire.Pending)

    assert boss.request(wire.Deny(pending.ticket, pending.digest)) is None
    eventually("it is over", lambda: state(here, waits.session) == "exited")
    assert not marker.exists()


def test_what_nobody_of_ours_remembers_never_runs(here: Machine, marker: Path) -> None:
    write_policy(ASK)
    waits = held(here, marker)
    leader = here.pid("leader", waits.session)
    ours = [here.pid(one) for one in ("trustee", "keeper", "nursery")]
    ours.append(here.pid("holder", waits.session))

    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in ours:
            os.kill(pid, number)

    eventually("it is gone", lambda: not Path(f"/proc/{leader}/exe").exists())
    assert not marker.exists()


def test_a_leader_that_is_killed_while_it_waits_ends_its_session(
    here: Machine, marker: Path
) -> None:
    write_policy(ASK)
    waits = held(here, marker)

    os.kill(here.pid("leader", waits.session), signal.SIGKILL)

    eventually("it is over", lambda: state(here, waits.session) == "exited")
    assert not marker.exists()


def test_a_seize_refuses_what_has_not_begun(here: Machine, marker: Path) -> None:
    write_policy(ASK)
    waits = held(here, marker)
    boss = here.join(waits.session, "boss", ActorKind.HUMAN)

    assert boss.request(wire.Seize(wire.Halt.NONE)) is None

    eventually("it is over", lambda: state(here, waits.session) == "exited")
    assert not marker.exists()


def test_a_start_whose_asker_is_gone_is_given_up(here: Machine, marker: Path) -> None:
    write_policy("[turn]\ngrace = 0.5\n" + ASK)
    waits = held(here, marker)  # Nobody attaches.

    eventually("it is over", lambda: state(here, waits.session) == "exited")
    assert not marker.exists()
    (refused,) = [one for one in book(waits.session) if one.kind is EntryKind.REFUSED]
    assert refused.fields["code"] == "asker-gone"


def test_a_program_that_changed_since_it_was_shown_is_shown_anew(
    here: Machine, tmp_path: Path, marker: Path
) -> None:
    write_policy(ASK)
    script = tmp_path / "harmless"
    script.write_text("#!/bin/sh\nsleep 60\n")
    script.chmod(0o755)
    answer = here.ask(**asked(marker, command=[str(script)]))
    session = SessionId(str(answer["id"]))
    boss = here.join(session, "boss", ActorKind.HUMAN)
    pending = boss.wait(wire.Pending)

    time.sleep(0.02)
    script.write_text(f"#!/bin/sh\ntouch {marker}\n")
    yes = wire.Approve(pending.ticket, pending.epoch, pending.digest)

    refused = boss.request(yes)
    assert refused is not None
    assert refused.code == "approval-mismatch"
    assert not marker.exists()
