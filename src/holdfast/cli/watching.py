"""When does a session do something, or hold something, as the kernel sees it?

The kernel does not call anybody when a program begins to wait, so it is asked
again and again: often at first, when an answer is likely, and less often later.
"""

import re
import time
from collections.abc import Callable
from typing import NamedTuple

from holdfast.client import looking
from holdfast.client.connection import Connection
from holdfast.model.errors import (
    MalformedArgument,
    SessionOver,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.text import printable
from holdfast.wire.graphs import MAX_PORT

FIRST_STEP = 0.02
LAST_STEP = 0.25
"""Seconds between two questions, at first and after some of them."""

STATES: dict[str, tuple[str, ...]] = {
    "prompt": ("at-prompt",),
    "input": ("waiting-for-input", "waiting-for-secret"),
    "secret": ("waiting-for-secret",),
}
"""States that each word stands for."""

_NUMBERED = re.compile(r"(port|pid):([0-9]{1,10})", re.ASCII)

Facts = dict[str, object]
Look = Callable[[Connection, float], Facts]


class Condition(NamedTuple):
    """What is waited for: a kind, and which of them."""

    kind: str
    number: int = 0


def condition_from(text: str) -> Condition | None:
    """Read what is waited for, or return None if the kernel has no word on it.

    Raises:
        UsageError: There is no such port or process.

    """
    if text in STATES:
        return Condition(text)
    found = _NUMBERED.fullmatch(text)
    if found is None:
        return None
    kind, number = found[1], int(found[2])
    if number == 0 or (kind == "port" and number > MAX_PORT):
        raise MalformedArgument(printable(text, 64), f"a {kind} such as {kind}:3000")
    return Condition(kind, number)


def wait_for(session: str, condition: Condition, deadline: float) -> Facts:
    """Return facts as soon as it is so; nothing if it is not by the deadline.

    Raises:
        UsageError: The session ended first.
        Unavailable: It cannot be reached any more.

    """
    look = _look(condition)
    step = FIRST_STEP
    while True:
        try:
            with looking.dial(session) as link:
                while not (found := look(link, time.monotonic() + looking.PATIENCE)):
                    left = deadline - time.monotonic()
                    if left <= 0:
                        return {}
                    time.sleep(min(step, left))
                    step = min(step * 1.5, LAST_STEP)
                return found
        except (SessionUnreachable, WaitedInVain):
            # A successor is asked instead, if there is one in time.
            if time.monotonic() >= deadline:
                return {}


def _look(condition: Condition) -> Look:
    match condition:
        case Condition("port", port):
            return lambda link, by: _port(link, by, port)
        case Condition("pid", pid):
            return _Departure(pid)
        case _:
            return lambda link, by: _state(link, by, STATES[condition.kind])


def _state(link: Connection, by: float, wanted: tuple[str, ...]) -> Facts:
    seen = looking.ask_state(link, by)
    if seen.state in wanted:
        return {"state": seen.state, "sure": seen.sure, "why": list(seen.why)}
    if seen.state == "exited":
        raise SessionOver("exited, and it had not come")
    return {}


def _port(link: Connection, by: float, port: int) -> Facts:
    seen = looking.ask_graph(link, by, descriptors=False)
    for one in seen.listeners:
        if one.port == port:
            return {"port": port, "pid": one.pid, "address": one.address}
    if not seen.processes:
        raise SessionOver("exited, and it had not come")
    return {}


class _Departure:
    """Tells when one process has ended, even if its number goes on."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._started: int | None = None

    def __call__(self, link: Connection, by: float) -> Facts:
        seen = looking.ask_graph(link, by, descriptors=False)
        for one in seen.processes:
            if one.pid == self._pid and self._started in (None, one.started_ticks):
                self._started = one.started_ticks
                return {}
        return {"pid": self._pid, "was_seen": self._started is not None}
