"""What works today, shown by doing it, and what comes next?

Runs one story through the real core: an agent floods, a human seizes, and the
logbook is verified, tampered with and verified again. Then a few simulated
worlds. No claim here that the program does not back up by running it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator

from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import Logbook, genesis, verify
from holdfast.core.input import gate, serializer
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Consult, Effect, Settings
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import (
    ENTROPY,
    FIRST_INCARNATION,
    ClientId,
    actor_id,
    client_id,
    session_id,
)
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied, Refused
from holdfast.model.verdicts import Verdict

NEXT = (
    "the rest of sessions on one machine: screens, up, down, doctor, upgrade",
    "operators: one writer, an enforced seize, a gate, a logbook on disk",
    "who staged what: shell integration, provenance, verbs for agents",
    "a sealed channel through a relay, and the SDK",
    "the MCP server and the web page",
)

PAGE = 12
"""Bytes the story's terminal takes before its program stops reading."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true", help="the facts, for programs")
    parser.add_argument("--seeds", type=int, default=5, help="worlds to simulate (5)")


def run(options: argparse.Namespace) -> int:
    """Tell the story, run the worlds, and say what is still missing."""
    story = Story()
    facts: dict[str, object] = {"story": story.tell()}
    worlds, failed = _simulate(options.seeds)
    facts |= {"worlds": worlds, "failed": failed, "next": NEXT}
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        _print(story.lines, worlds, failed)
    return 1 if failed else 0


def _print(lines: list[str], worlds: int, failed: int) -> None:
    print("holdfast: the pure core, run once before your eyes\n")
    for line in lines:
        print(f"  {line}")
    verdict = "every invariant held" if not failed else f"{failed} of them FAILED"
    print(f"\n  {worlds} simulated worlds of crashes and partitions: {verdict}")
    print("\n`holdfast new` opens a live session. What comes next, in this order:\n")
    for number, what in enumerate(NEXT, start=1):
        print(f"  {number}. {what}")
    print("\nMore worlds: make sim SEEDS=200. Planted bugs: make mutants.")


def _simulate(seeds: int) -> tuple[int, int]:
    """Run the simulator as the program it is, and read its closing line."""
    command = [sys.executable, "-m", "holdfast.testing.sim", "--seeds", str(seeds)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    passed, failed = re.findall(r"\d+", run.stdout.splitlines()[-1])
    return int(passed) + int(failed), int(failed)


class Story:
    """An agent that will not let go, and a human who takes over."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._now = 0.0
        self._stored: list[bytes] = []
        self._terminal = b""
        self._answers: list[serializer.Answer] = []
        self._anna = Actor(actor_id(b"anna"), ActorKind.HUMAN, "anna")
        self._robo = Actor(actor_id(b"robo"), ActorKind.AGENT, "robo")
        self._clients: dict[str, ClientId] = {
            actor.id: client_id(os.urandom(ENTROPY))
            for actor in (self._anna, self._robo)
        }
        self._session = session_id(os.urandom(ENTROPY))
        settings = Settings(self._session, FIRST_INCARNATION, os.urandom(32))
        self._intake = Intake(settings, Logbook(genesis(self._session)))

    def tell(self) -> dict[str, object]:
        """Run the story and return what came of it."""
        agent = frozenset({Right.OBSERVE, Right.INPUT, Right.TAKE})
        for actor, rights in ((self._anna, frozenset(Right)), (self._robo, agent)):
            envelope = Envelope(rights)
            self._do(self._intake.grant(actor.id, envelope, actor.id, self._at()))
        self._say("session", self._session)
        for number in range(1, 6):
            self._type(self._robo, number, b"rm -r x\n")
        self._say(
            self._robo.shown(),
            f"typed 5 lines; {len(self._terminal)} bytes reached the terminal,"
            " whose program does not read",
        )
        self._do(self._intake.seize(self._anna.id, self._at()))
        dropped = sum(
            not isinstance(answer.outcome, Applied) for answer in self._answers
        )
        self._say(
            self._anna.shown(),
            f"seized: epoch {self._intake.turn.epoch}, {dropped} inputs thrown away",
        )
        self._type(self._robo, 6, b"rm -r y\n")
        refusal = self._answers[-1].outcome
        assert isinstance(refusal, Refused)  # noqa: S101  # the turn is anna's
        self._say(self._robo.shown(), f"typed again: {refusal.error}")
        return {"dropped": dropped, "refused": refusal.error.code, **self._check()}

    def _check(self) -> dict[str, object]:
        verified = verify(self._stored, self._session)
        self._say("logbook", f"{verified.count} entries, and the chain holds")
        forged = [*self._stored[:3], *self._stored[4:]]
        try:
            verify(forged, self._session)
            noticed = ""
        except HoldfastError as error:
            noticed = str(error)
        self._say("one entry removed", noticed)
        return {"entries": verified.count, "tampering": noticed}

    def _type(self, actor: Actor, number: int, line: bytes) -> None:
        given = Input(
            InputId(self._clients[actor.id], number),
            actor.id,
            InputKind.KEYS,
            self._intake.incarnation,
            self._intake.turn.epoch,
            line,
        )
        self._do(self._intake.submit(given, self._at()))

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            for more in self._perform(effect):
                self._do(more)

    def _perform(self, effect: Effect) -> Iterator[list[Effect]]:
        match effect:
            case Store(entry):
                self._stored.append(entry.line)
                yield self._intake.stored(self._at())
            case serializer.Sync(index):
                yield self._intake.synced(index, self._at())
            case Consult(ticket):
                allowed = gate.Judged(ticket, Verdict.ALLOW, "story")
                yield self._intake.judged(allowed, self._at(), echo_off=False)
            case serializer.Apply(index, given):
                taken = given.payload[: PAGE - len(self._terminal)]
                self._terminal += taken
                yield self._intake.wrote(index, len(taken), self._at())
            case serializer.Answer():
                self._answers.append(effect)
            case _:
                pass  # Notes and announcements: nobody here needs them.

    def _at(self) -> Moment:
        self._now += 0.001
        return Moment(self._now, 1_800_000_000.0 + self._now)

    def _say(self, who: str, what: str) -> None:
        self.lines.append(f"{who:<26} {what}")
