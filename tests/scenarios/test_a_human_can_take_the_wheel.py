import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.cli.log_tail import LogTail
from holdfast.core.logbook import EntryKind
from holdfast.linux.cgroups import ground
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire import company as parties
from holdfast.wire import messages as wire

TRIALS = int(os.environ.get("HOLDFAST_TRIALS", "25"))
"""Seizes under a flood; the full proof runs a thousand: HOLDFAST_TRIALS=1000."""

PIECE = 4000
"""Bytes in one input of a flood: what a terminal that nobody reads takes at once."""


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


def flood(bot: Client, mark: bytes) -> None:
    """Send as much as the holder takes, without ever reading an answer."""
    for _ in range(200):
        bot.post(mark * PIECE)


def drain(bot: Client) -> list[object]:
    """Read every answer to a flood."""
    return [bot.settle() for _ in range(200)]


def test_a4_a_seize_stops_the_next_byte_of_an_agent_that_never_yields(
    here: Machine,
) -> None:
    # Nobody reads the terminal, so it is full and most of the flood waits.
    session = here.new("sh", "-c", "stty raw -echo; echo ready; exec sleep 1000")
    bot = here.join(session, "flooder", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    applied = Applied(session, bot)
    for _ in range(TRIALS):
        bot.request(wire.Take())
        flood(bot, b"x")

        assert anna.request(wire.Seize(wire.Halt.NONE)) is None

        assert anna.who().holder == anna.operator.actor.id
        stood = applied.bytes()
        assert not any(isinstance(one, wire.Acknowledge) for one in drain(bot)[-1:])
        assert applied.bytes() == stood
        anna.request(wire.Give(bot.operator.actor.id))
    applied.close()


class Applied:
    """How many of an operator's bytes the logbook says went in."""

    def __init__(self, session: SessionId, bot: Client) -> None:
        self._tail = LogTail(session)
        self._actor = bot.operator.actor.id
        self._sizes: dict[int, int] = {}

    def bytes(self) -> int:
        """Read on, and return the sum."""
        for entry in self._tail.read_all():
            if entry.kind is EntryKind.INPUT and entry.fields["actor"] == self._actor:
                self._sizes[entry.index] = int(entry.fields["size"] or 0)
            # One line settles all before it; only what was cut or dropped is named.
            elif entry.kind is EntryKind.SETTLED and entry.fields["as"] != "applied":
                written = int(entry.fields.get("written") or 0)
                self._sizes[int(entry.fields["of"] or 0)] = written
        return sum(self._sizes.values())

    def close(self) -> None:
        """Read no more."""
        self._tail.close()


@pytest.mark.timeout(400)  # Thousands of inputs, each of them on the disk.
def test_t18_not_a_byte_of_the_former_holder_comes_after_a_seize(
    here: Machine, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    session = here.new("sh", "-c", f"stty raw -echo; echo ready; exec cat >{taken}")
    bot = here.join(session, "writer", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    for number in range(TRIALS):
        bot.request(wire.Take())
        flood(bot, b"b")
        assert anna.request(wire.Seize(wire.Halt.NONE)) is None
        anna.enter(b"<%d>" % number)
        drain(bot)
        anna.request(wire.Give(bot.operator.actor.id))
    last = b"<%d>" % (TRIALS - 1)

    eventually("all of it", lambda: last in taken.read_bytes())
    # Between a seize and the next turn of the bot there is nothing but <n>.
    read = taken.read_bytes()
    applied = Applied(session, bot)
    assert read.count(b"b") == applied.bytes()
    applied.close()
    assert re.findall(rb"<(\d+)>", read) == [b"%d" % one for one in range(TRIALS)]


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
    book = [*tail.read_all()]
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
