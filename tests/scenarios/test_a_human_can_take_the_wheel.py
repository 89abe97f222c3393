import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.cli.log_tail import LogTail
from holdfast.core.book.logbook import EntryKind
from holdfast.linux.cgroups import ground
from holdfast.model.actors import ActorKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


def test_a_seize_freezes_everything_and_a_thaw_lets_it_go_on(
    here: Machine, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    session = here.new(
        "sh", "-c", f"while :; do echo x >>{count}; done & while :; do :; done"
    )
    anna = here.join(session)
    eventually("it runs", lambda: count.exists() and count.stat().st_size > 100)

    assert anna.request(wire.Seize(wire.Halt.FREEZE)) is None
    stood = count.stat().st_size
    refused = anna.enter(b"x")

    assert isinstance(refused, wire.Refuse)
    assert refused.code == "frozen"
    assert anna.who().frozen
    assert count.stat().st_size == stood
    assert anna.request(wire.Thaw()) is None
    eventually("it goes on", lambda: count.stat().st_size > stood)
    assert isinstance(anna.enter(b"x"), wire.Acknowledge)


def test_a_frozen_session_can_be_thawed_by_the_next_holder_process(
    here: Machine, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    session = here.new("sh", "-c", f"while :; do echo x >>{count}; done")
    anna = here.join(session)
    eventually("it runs", count.exists)
    anna.request(wire.Freeze())
    here.replace_holder(session)
    anna.attach()
    stood = count.stat().st_size

    assert anna.who().frozen
    assert anna.request(wire.Thaw()) is None

    eventually("it goes on", lambda: count.stat().st_size > stood)


@pytest.mark.skipif(ground().folder is None, reason=f"no cgroup: {ground().why_not}")
def test_with_a_cgroup_nobody_of_the_same_user_wakes_what_is_frozen(
    here: Machine, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    session = here.new("sh", "-c", f"while :; do echo x >>{count}; done")
    anna = here.join(session)
    eventually("it runs", count.exists)

    assert anna.request(wire.Freeze()) is None
    stood = count.stat().st_size
    os.kill(here.pid("leader", session), signal.SIGCONT)
    time.sleep(0.05)  # Long enough for thousands of lines.

    assert count.stat().st_size == stood
    assert anna.request(wire.Thaw()) is None


def test_a_seize_can_interrupt_what_runs(here: Machine) -> None:
    session = here.new("bash", "--norc", "-i")
    bot = here.join(session, "looper", ActorKind.AGENT)
    bot.enter(b"sleep 1000\r")
    anna = here.join(session)
    eventually("it runs", lambda: b"sleep" in anna.output or _jobs(anna))

    assert anna.request(wire.Seize(wire.Halt.INTERRUPT)) is None
    anna.enter(b"echo back$((40+2))\r")

    anna.wait_output(b"back42")
    tail = LogTail(session)
    book = [*tail.entries()]
    tail.close()
    (entry,) = [one for one in book if one.kind is EntryKind.INTERRUPTED]
    assert entry.fields["by"] == anna.operator.actor.id


def _jobs(client: Client) -> bool:
    with contextlib.suppress(TimeoutError):
        client.who()
    return b"sleep" in client.output


def test_an_agent_can_neither_seize_nor_freeze(here: Machine) -> None:
    session = here.new("cat")
    anna = here.join(session)
    bot = here.join(session, "grabber", ActorKind.AGENT)
    anna.request(wire.Take())

    for asked in (wire.Seize(wire.Halt.NONE), wire.Freeze(), wire.Thaw()):
        refused = bot.request(asked)
        assert refused is not None
        assert (refused.code, refused.facts["right"]) == ("not-allowed", "seize")
    assert anna.who().holder == anna.operator.actor.id


def test_a2_the_session_goes_on_when_everybody_is_revoked(here: Machine) -> None:
    session = here.new("sh", "-c", "stty raw -echo; echo ready; cat")
    bot = here.join(session, "first", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    pid = here.pid("leader", session)

    anna.request(parties.Revoke(bot.operator.actor.id))
    anna.send(parties.Revoke(anna.operator.actor.id))
    anna.wait(wire.Goodbye)

    carl = here.join(session, "carl")
    carl.enter(b"still here")
    carl.wait_output(b"still here")
    assert here.pid("leader", session) == pid
