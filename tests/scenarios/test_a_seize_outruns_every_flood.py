"""A thousand seizes while an agent types and a program prints as fast as they can."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import (
    PATIENCE,
    Client,
    Machine,
    apply_policy,
    eventually,
    machine,
)

from holdfast.cli.log_tail import LogTail
from holdfast.client import current_operator
from holdfast.core.book.logbook import EntryKind
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message

TRIALS = int(os.environ.get("HOLDFAST_TRIALS", "1000"))
"""Seizes in all."""

PIECE = 4000
"""Bytes in one input of a flood: what a terminal that nobody reads takes at once."""

PIECES = 8
"""Inputs of a flood: more than a holder deals with before it hears of the seize."""

SOON = 1.0
"""Seconds in which a seize is heard on a machine that does many other things."""


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


class Deaf(Client):
    """A client that keeps nothing of what is printed."""

    passes = 0
    """How often the turn has passed."""

    def _take(self, message: Message) -> None:
        super()._take(message)
        self.output = b""
        self.passes += isinstance(message, wire.TurnPassed)

    def hear_of_turn(self, passes: int) -> None:
        """Read on until the turn has passed so often in all."""
        until = time.monotonic() + PATIENCE
        while self.passes < passes:
            assert time.monotonic() < until, f"{self.passes} of {passes}"
            self._receive(PATIENCE)


def join(here: Machine, session: SessionId, name: str, kind: ActorKind) -> Deaf:
    made = Deaf(session, current_operator.enrol(name, kind))
    here.clients.append(made)
    return made


def flood(bot: Client, typed: bytes) -> None:
    """Send more than the holder takes, once it has begun to take it."""
    bot.post(typed)
    bot.who()
    for _ in range(PIECES - 1):
        bot.post(typed)


def drain(bot: Client) -> list[object]:
    """Read every answer to a flood."""
    return [bot.settle() for _ in range(PIECES)]


def letter(trial: int) -> bytes:
    """What the agent types in a trial, and in none of those beside it."""
    return bytes([ord("a") + trial % 26])


@pytest.mark.timeout(120)
@pytest.mark.parametrize("prints", [False, True], ids=["input", "input-and-output"])
def test_t18_not_a_byte_of_the_former_holder_comes_after_a_seize(
    here: Machine, tmp_path: Path, *, prints: bool
) -> None:
    taken, others = tmp_path / "taken", "yes &" if prints else ""
    program = f"stty raw -echo; {others} exec cat >{taken}"
    session = here.new("sh", "-c", program)
    bot = join(here, session, f"writer{prints}", ActorKind.AGENT)
    anna = join(here, session, f"anna{prints}", ActorKind.HUMAN)
    eventually("it reads", taken.exists)
    trials, amid = TRIALS // 2, 0
    bot.send(wire.Take())
    for trial in range(trials):
        for one in (bot, anna):
            one.hear_of_turn(2 * trial + 1)
        flood(bot, letter(trial) * PIECE)
        anna.send(wire.Seize(wire.Halt.NONE))
        anna.hear_of_turn(2 * trial + 2)
        assert isinstance(anna.enter(b"<%d>" % trial), wire.Acknowledge)
        anna.send(wire.Give(bot.operator.actor.id))
        amid += any(not isinstance(one, wire.Acknowledge) for one in drain(bot))

    eventually("all of it", lambda: b"<%d>" % (trials - 1) in taken.read_bytes())
    *floods, rest = re.split(rb"<(\d+)>", taken.read_bytes())
    assert floods[1::2] == [b"%d" % trial for trial in range(trials)]
    # Between a seize and the next turn of the agent there is not one byte of it.
    late = [
        trial for trial, read in enumerate(floods[::2]) if read.strip(letter(trial))
    ]
    assert (late, rest) == ([], b"")
    assert sum(map(len, floods[::2])) == typed_by(bot.operator.actor.id, session)
    # Which would be no feat if the agent had been done each time, or had not begun.
    assert amid > trials / 2
    assert all(floods[::2])


def typed_by(actor: ActorId, session: SessionId) -> int:
    """Return how many of an operator's bytes the logbook says went in."""
    sizes: dict[int, int] = {}
    tail = LogTail(session)
    for entry in tail.entries():
        if entry.kind is EntryKind.INPUT and entry.fields["actor"] == actor:
            sizes[entry.index] = int(entry.fields["size"] or 0)
        # One line settles all before it; only what was cut or dropped is named.
        elif entry.kind is EntryKind.SETTLED and entry.fields["as"] != "applied":
            sizes[int(entry.fields["of"] or 0)] = int(entry.fields.get("written") or 0)
    tail.close()
    return sum(sizes.values())


def test_a4_a_seize_stops_an_agent_that_fills_a_terminal_nobody_reads(
    here: Machine,
) -> None:
    session = here.new("sh", "-c", "stty raw -echo; echo ready; exec sleep 1000")
    bot = here.join(session, "flooder", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    for _ in range(25):
        bot.request(wire.Take())
        flood(bot, b"x" * PIECE)

        assert anna.request(wire.Seize(wire.Halt.NONE)) is None

        assert anna.who().holder == anna.operator.actor.id
        stood = typed_by(bot.operator.actor.id, session)
        assert not isinstance(drain(bot)[-1], wire.Acknowledge)
        assert typed_by(bot.operator.actor.id, session) == stood
        anna.request(wire.Give(bot.operator.actor.id))


@pytest.mark.parametrize("typed", [b"b\x03", b"b\r", b"\x7f", b"\x16\r", b"\x1b[A"])
def test_no_keys_keep_a_holder_from_hearing_a_seize(
    here: Machine, tmp_path: Path, typed: bytes
) -> None:
    taken = tmp_path / "taken"
    session = here.new("sh", "-c", f"stty raw -echo; exec cat >{taken}")
    bot = here.join(session, "hammerer", ActorKind.AGENT)
    anna = here.join(session)
    eventually("it reads", taken.exists)
    holder = here.pid("holder", session)
    assert bot.request(wire.Take()) is None
    for _ in range(8):
        bot.post(typed * (60_000 // len(typed)))
        began = time.monotonic()
        anna.who()
        assert time.monotonic() - began < SOON

    assert anna.request(wire.Seize(wire.Halt.NONE)) is None
    assert here.pid("holder", session) == holder
