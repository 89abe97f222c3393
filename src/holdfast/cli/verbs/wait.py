"""`holdfast wait`: wait for output, a prompt, a port, silence, or the end."""

import argparse
import json
import re
import time
from typing import TypeVar

from holdfast.cli.arguments import pattern_from
from holdfast.client import keeper
from holdfast.client.driver import attachment_to, converse
from holdfast.core.client import state_wait
from holdfast.core.client.state_wait import Wanted, Watch
from holdfast.core.client.stream_wait import EndWait, MatchWait, QuietWait
from holdfast.model.errors import MalformedArgument, NegativeOffset
from holdfast.model.ids import SessionId
from holdfast.model.text import printable
from holdfast.wire.graphs import MAX_PORT
from holdfast.wire.messages import Mode

FOREVER = float("inf")

STATES: dict[str, tuple[str, ...]] = {
    "prompt": ("at-prompt",),
    "input": ("waiting-for-input", "waiting-for-secret", "idle"),
    "secret": ("waiting-for-secret",),
}
"""The states that each word stands for."""

WORDS = frozenset({"quiet", "exit", *STATES})

_NUMBERED = re.compile(r"(port|pid):([0-9]{0,10})(.*)", re.ASCII | re.DOTALL)

Answer = TypeVar("Answer")
Result = TypeVar("Result")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("--for", dest="what", metavar="WHAT", required=True)
    parser.add_argument("--timeout", metavar="S", type=float)
    parser.add_argument("--from", dest="start", metavar="OFFSET", type=int)
    parser.add_argument("--quiet-for", metavar="S", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Wait, and print where it happened."""
    if options.start is not None and options.start < 0:
        raise NegativeOffset(options.start)
    facts = _wait(options, options.what)
    if options.json:
        print(json.dumps(facts))
    return 0


def _wait(options: argparse.Namespace, what: str) -> dict[str, object]:
    """Return what came, as soon as it has."""
    numbered = _number(what)
    pattern = None if what in WORDS or numbered else pattern_from(what)
    session = keeper.find(options.session)
    facts: dict[str, object] = {"session": session.id}
    if what == "exit" and session.exit is not None:
        return facts | {"exit": session.exit}
    timeout = None if options.timeout is None else max(0.0, options.timeout)
    waiting = _Waiting(SessionId(session.id), timeout)
    match what:
        case "exit":
            return facts | waiting.for_exit()
        case "quiet":
            return facts | waiting.for_quiet(options.quiet_for)
        case _ if what in STATES:
            return facts | waiting.for_state(*STATES[what])
        case _ if numbered:
            return facts | waiting.for_number(*numbered)
        case _:
            assert pattern is not None  # noqa: S101  # it is no other word
            return facts | waiting.for_match(pattern, options.start)


class _Waiting:
    """A session being waited on, and for how long."""

    def __init__(self, session: SessionId, timeout: float | None) -> None:
        self._session = session
        self._timeout = timeout
        self._now = time.monotonic()

    def for_match(
        self, pattern: re.Pattern[bytes], start: int | None
    ) -> dict[str, object]:
        """Wait for output that matches `pattern`; return where it begins and ends."""
        attachment = attachment_to(self._session, Mode.OBSERVE)
        wait = MatchWait(attachment, pattern, self._now, self._timeout, start)
        found = converse(self._session, wait)
        return {"offset": found.offset, "next": found.offset + len(found.data)}

    def for_quiet(self, seconds: float) -> dict[str, object]:
        """Wait until nothing has been printed for that long."""
        attachment = attachment_to(self._session, Mode.OBSERVE)
        wait = QuietWait(attachment, seconds, self._now, self._timeout)
        return {"offset": converse(self._session, wait)}

    def for_exit(self) -> dict[str, object]:
        """Wait until the leader has exited."""
        attachment = attachment_to(self._session, Mode.OBSERVE)
        wait = EndWait(attachment, self._now, self._timeout)
        return {"exit": converse(self._session, wait)}

    def for_state(self, *words: str) -> dict[str, object]:
        """Wait until the session is in one of these states, according to the kernel."""
        seen = self._watched(state_wait.state(*words))
        return {"state": seen.state, "sure": seen.sure, "why": list(seen.why)}

    def for_number(self, kind: str, number: int) -> dict[str, object]:
        """Wait for a listening port, or for a process to end."""
        if kind == "pid":
            return self._watched(state_wait.departure(number))._asdict()
        found = self._watched(state_wait.port(number))
        return {"port": number, "pid": found.pid, "address": found.address}

    def _watched(self, wanted: Wanted[Answer, Result]) -> Result:
        until = FOREVER if self._timeout is None else self._now + self._timeout
        watch = Watch(self._session, wanted, self._now, until)
        return converse(self._session, watch)


def _number(text: str) -> tuple[str, int] | None:
    """Parse a port or a process; None if it is neither.

    Raises:
        UsageError: There is no such port or process.

    """
    found = _NUMBERED.fullmatch(text)
    if found is None:
        return None
    kind, number = found[1], int(found[2] or 0)
    if found[3] or number == 0 or (kind == "port" and number > MAX_PORT):
        wanted = (
            f"a {kind} such as {kind}:3000; as a pattern, write [{kind[0]}]{text[1:]}"
        )
        raise MalformedArgument(printable(text, 64), printable(wanted))
    return kind, number
