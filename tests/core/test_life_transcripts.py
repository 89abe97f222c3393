"""Replay whole stories. REWRITE_TRANSCRIPTS=1 writes down what happens now.

A story is a list of steps: the time, then `tick` or an event with its fields.
Below each step stand its effects and what can be seen of the machine.
"""

import ast
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from holdfast.core.relay import lease
from holdfast.core.session import idle_sessions, session
from holdfast.model.ids import HostId, SessionId

STORIES = Path(__file__).parent / "transcripts"
S = SessionId("s_one")


@dataclass
class Stage:
    module: ModuleType
    machine: Any
    seen: Callable[[Any, float], str]


def lease_seen(holder: lease.LeaseHolder, now: float) -> str:
    spoken = holder.speaking_incarnation(now)
    return "silent" if spoken is None else f"speaking for {spoken}"


def session_seen(life: session.SessionLife, _now: float) -> str:
    return life.state.value


def reaping_seen(reaper: idle_sessions.Reaper, now: float) -> str:
    idle = reaper.idle(S, now)
    return "not watched" if idle is None else f"idle for {idle:g}"


def stage(story: Path) -> Stage:
    policy = idle_sessions.Policy(
        window=60, warning=20, action=idle_sessions.Action.END
    )
    stages: dict[str, tuple[ModuleType, Any, Callable[[Any, float], str]]] = {
        "lease": (lease, lease.LeaseHolder(HostId("h_here"), 0), lease_seen),
        "session": (session, session.SessionLife(), session_seen),
        "reaping": (idle_sessions, idle_sessions.Reaper(policy), reaping_seen),
    }
    module, machine, seen = stages[story.stem.partition("_")[0]]
    return Stage(module, machine, seen)


def value_of(module: ModuleType, text: str) -> object:
    if "(" in text:
        name, _, arguments = text.rstrip(")").partition("(")
        return made(module, name, arguments.split(","))
    kind, _, member = text.partition(".")
    if hasattr(module, kind):
        return getattr(getattr(module, kind), member)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def made(module: ModuleType, name: str, arguments: list[str]) -> object:
    pairs = (argument.partition("=") for argument in arguments if argument)
    return getattr(module, name)(**{key: value_of(module, v) for key, _, v in pairs})


def shown(effect: object) -> str:
    named = [(field.name, getattr(effect, field.name)) for field in fields(effect)]  # type: ignore[arg-type]  # every effect is a dataclass
    return " ".join([type(effect).__name__, *(f"{n}={v}" for n, v in named)])


def played(story: Path) -> str:
    on = stage(story)
    told = []
    for paragraph in story.read_text().strip().split("\n\n"):
        told.append(paragraph.partition("\n----")[0] + "\n----")
        step = told[-1].splitlines()[-2]
        time, verb, *arguments = step.split()
        now = float(time)
        if verb == "tick":
            effects = on.machine.tick(now)
        else:
            effects = on.machine.handle(made(on.module, verb, arguments), now)
        deadline = on.machine.next_deadline()
        waits = "nothing to wait for" if deadline is None else f"next at {deadline:g}"
        told[-1] += "".join(f"\n{shown(effect)}" for effect in effects)
        told[-1] += f"\n{on.seen(on.machine, now)}; {waits}"
    return "\n\n".join(told) + "\n"


@pytest.mark.parametrize(
    "story",
    sorted(
        story
        for kind in ("lease", "session", "reaping")
        for story in STORIES.glob(f"{kind}_*.txt")
    ),
    ids=lambda story: story.stem,
)
def test_the_story_goes_as_it_is_told(story: Path) -> None:
    if os.environ.get("REWRITE_TRANSCRIPTS"):
        story.write_text(played(story))

    assert played(story) == story.read_text()
