"""People and agents at work, who write down what they ask and what they are told."""

import asyncio
import contextlib
import itertools
import json
import random
import subprocess
import threading

from tests.chaos.stage import Stage
from tests.scenarios.elsewhere import Place
from tests.scenarios.support import Client

import holdfast
from holdfast.client import current_operator
from holdfast.model.actors import ActorKind
from holdfast.model.errors import HoldfastError, Unsettled, from_facts
from holdfast.sdk import events
from holdfast.wire import messages as wire

PATIENCE = 20.0
"""Seconds until an operator gives up on one answer."""

TYPING = 0.02
"""Seconds between two inputs of a typist."""


class Typist:
    """Types words that come once, and writes down what became of each.

    It drops the turn now and then, and seizes it now and then from who has it.
    """

    def __init__(self, stage: Stage, name: str, seed: int) -> None:
        self._stage = stage
        self._history = stage.history
        self.name = name
        self._chance = random.Random(f"{name} {seed}")  # noqa: S311  # must repeat
        self._operator = current_operator.enrol(name, ActorKind.HUMAN)
        self._count = itertools.count(1)
        self._client: Client | None = None

    def work(self, over: threading.Event) -> None:
        """Type until it is over."""
        while not over.is_set():
            token = f"{self.name}-{next(self._count)}"
            try:
                self._type(token)
            except (AssertionError, EOFError, OSError) as error:
                # Of this one nothing is known; a client that waits for ever asks anew.
                self._history.note("trouble", who=self.name, text=str(error)[:400])
                self._leave()
            over.wait(TYPING)
        self._leave()

    def _type(self, token: str) -> None:
        client = self._client
        if client is None:
            session = self._stage.sessions["typed"]
            client = self._client = Client(session, self._operator)
        self._history.note(
            "call",
            who=self.name,
            session=client.session,
            client=client.client,
            sequence=client.number + 1,
            token=token,
        )
        answer = client.enter(token.encode() + b"\r")
        self._history.note("answer", token=token, **told(answer))
        if not isinstance(answer, wire.Acknowledge):
            if self._chance.random() < SEIZES:
                client.request(wire.Seize(wire.Halt.NONE))
            if told(answer).get("code") not in GIVE_WAY:
                self._leave()  # It may not have been counted: begin to count anew.
        elif self._chance.random() < DROPS:
            client.request(wire.Drop())

    def _leave(self) -> None:
        if self._client is not None:
            with contextlib.suppress(OSError):
                self._client.send(wire.Detach())
            self._client.close()
            self._client = None


GIVE_WAY = ("not-your-turn", "stale-epoch", "turn-moved")
"""Refusals because somebody else writes."""

SEIZES, DROPS = 0.1, 0.1
"""How likely a refusal leads to a seize, and an input to the turn being dropped."""


class Caller:
    """Types by the command line, one process for each word."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._count = itertools.count(1)

    def work(self, over: threading.Event) -> None:
        """Type until it is over."""
        while not over.wait(0.5):
            token = f"carl-{next(self._count)}"
            self._stage.history.note("call", who="carl", token=token)
            self._stage.history.note("answer", token=token, **self._send(token))

    def _send(self, token: str) -> dict[str, object]:
        words = ("send", "typed", "--json", "--enter", token)
        try:
            done = self._stage.alpha.run(*words)
            if done.returncode == 0:
                return {"outcome": "applied"}
            code = str(json.loads(done.stderr)["error"]["code"])
        except (subprocess.TimeoutExpired, ValueError, KeyError) as error:
            return {"outcome": "unknown", "code": repr(error)[:200]}
        doubt = isinstance(from_facts(code, {}, ""), Unsettled)
        return {"outcome": "unknown" if doubt else "refused", "code": code}


def told(answer: wire.Acknowledge | wire.Refuse | wire.Report) -> dict[str, object]:
    """Return an answer as the history has it."""
    match answer:
        case wire.Acknowledge():
            return {"outcome": "applied", "index": answer.index}
        case wire.Report():
            word = "unknown" if answer.written else str(answer.outcome)
            return {"outcome": word, "index": answer.index, "written": answer.written}
        case wire.Refuse():
            error = from_facts(answer.code, {}, answer.text)
            doubt = isinstance(error, Unsettled)
            return {"outcome": "unknown" if doubt else "refused", "code": answer.code}


class Agent:
    """Has the turn of a shell, and runs commands there, each under a key."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self._stage = stage
        self._history = stage.history
        self._chance = random.Random(f"agent {seed}")  # noqa: S311  # must repeat
        self._count = itertools.count(1)

    async def work(self, over: asyncio.Event) -> None:
        """Run commands until it is over; come back whenever the turn was lost."""
        while not over.is_set():
            try:
                async with holdfast.connect(operator="bot") as host:
                    session = host.attach(self._stage.sessions["worked"])
                    async with session, session.turn():
                        while not over.is_set():
                            await self._run(session, over)
            except (HoldfastError, OSError) as error:
                self._history.note("trouble", who="bot", text=repr(error)[:400])
                await asyncio.sleep(0.2)

    async def _run(self, session: holdfast.Session, over: asyncio.Event) -> None:
        """Run one command; ask under the same key until it is known what came of it."""
        key, status = f"key-{next(self._count)}", self._chance.randrange(0, 8)
        effects = self._stage.folder / "effects"
        command = f"echo {key} >>{effects}; (exit {status})"
        self._history.note("run", key=key, status=status)
        while True:
            try:
                ran = await session.run(command, key=key, timeout=PATIENCE)
            except HoldfastError as error:
                self._history.note("ran", key=key, status=None, code=error.code)
                if isinstance(error, Unsettled) or over.is_set():
                    return
                await asyncio.sleep(0.1)
            else:
                self._history.note("ran", key=key, status=ran.status)
                return


class Viewer:
    """Sees all that a session prints, through every cut, and notes what is odd."""

    def __init__(self, stage: Stage, name: str, address: str = "") -> None:
        self._stage = stage
        self._address = address
        self.name = name
        self.seen = bytearray()
        self._troubles: list[str] = []

    async def watch(self) -> None:
        """Watch until cancelled, or until the program has said that it is done."""
        session = self._stage.sessions["printed"]
        while b"the end\r\n" not in self.seen:
            with contextlib.suppress(HoldfastError, OSError):
                async with holdfast.connect(self._address) as host:
                    view = host.attach(session, observe=True)
                    async for one in view.events(after=len(self.seen)):
                        self._take(one)
                        if b"the end\r\n" in self.seen:
                            return
            await asyncio.sleep(0.1)

    def _take(self, one: events.Event) -> None:
        match one:
            case events.Output():
                if one.offset != len(self.seen):
                    self._troubles.append(f"byte {one.offset} after {len(self.seen)}")
                self.seen += one.data
            case events.Gap():
                self._troubles.append(f"a gap that nothing explains: {one}")
            case _:
                pass

    def report(self) -> None:
        """Write down all that was seen."""
        text = self.seen.decode(errors="replace")
        self._stage.history.note(
            "seen", viewer=self.name, text=text, troubles=self._troubles
        )


class Starter:
    """Starts sessions that end by themselves, each with a status of its own."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self._stage = stage
        self._chance = random.Random(f"starter {seed}")  # noqa: S311  # must repeat
        self._count = itertools.count(1)

    def work(self, over: threading.Event) -> None:
        """Start one after another until it is over."""
        while not over.wait(self._chance.uniform(0.5, 1.5)):
            name, status = f"short-{next(self._count)}", self._chance.randrange(1, 100)
            lives = self._chance.uniform(0, 3)
            line = f"sleep {lives:.2f}; exit {status}"
            self._start(name, line, status)

    def _start(self, name: str, line: str, status: int) -> None:
        words = ("new", "--detach", "--json", "--name", name, "--", "sh", "-c", line)
        try:
            done = self._stage.alpha.run(*words)
        except subprocess.TimeoutExpired:
            self._stage.history.note("trouble", who="starter", text="new hangs")
            return
        if done.returncode != 0:
            text = (done.stderr or done.stdout)[:400]
            self._stage.history.note("trouble", who="starter", text=text)
            return
        made = json.loads(done.stdout)
        self._stage.history.note(
            "began",
            session=made["id"],
            name=name,
            pid=made["pid"],
            started="",
            exits=status,
        )


class Mover:
    """Moves a session there and back, and puts another to disk and forks it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def work(self, over: threading.Event) -> None:
        """Do one after another until it is over."""
        stage = self._stage
        ways = itertools.cycle(((stage.alpha, "beta"), (stage.beta, "alpha")))
        here, there = next(ways)
        for number in itertools.count(1):
            if over.wait(0.5):
                return
            if self._do(here, "move", "counted", there):
                here, there = next(ways)
            self._do(stage.alpha, "checkpoint", "boxed")
            if not over.is_set() and number % 2:
                branch = f"branch-{number}"
                if self._do(stage.alpha, "fork", "-d", "-n", branch, "boxed"):
                    self._do(stage.alpha, "fork", "--discard", "--force", branch)

    def _do(self, place: Place, *words: str) -> bool:
        try:
            done = place.run(*words)
        except subprocess.TimeoutExpired:
            self._stage.history.note("act", words=words, status=None, said="it hangs")
            return False
        said = (done.stderr or done.stdout).strip()[:300]
        status = done.returncode
        self._stage.history.note("act", words=words, status=status, said=said)
        moved = "has moved to" in said
        return status == 0 or moved
