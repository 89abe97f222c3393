"""Replay whole stories of a turn. REWRITE_TRANSCRIPTS=1 writes what happens now.

A story is a list of steps: the time, then `tick` or an event with its fields.
Below each step stand its effects and what can be seen of the turn.
"""

import ast
import os
from dataclasses import fields
from pathlib import Path

import pytest

from holdfast.core.input import turn

STORIES = Path(__file__).parents[1] / "transcripts"


def happened(verb: str, arguments: list[str]) -> turn.Event:
    said: dict[str, object] = {}
    for argument in arguments:
        name, _, text = argument.partition("=")
        said[name] = ast.literal_eval(text) if not text.isalpha() else text
    said |= {name: text == "yes" for name, text in said.items() if name == "granted"}
    event: turn.Event = getattr(turn, verb)(**said)
    return event


def shown(effect: turn.Effect) -> str:
    if isinstance(effect, turn.Refuse):
        return f"Refuse {effect.actor}: {effect.error}"
    named = [(field.name, getattr(effect, field.name)) for field in fields(effect)]
    return " ".join([type(effect).__name__, *(f"{n}={v}" for n, v in named)])


def seen(machine: turn.Turn) -> str:
    line = ", ".join(machine.waiting) or "nobody"
    deadline = machine.next_deadline()
    waits = "nothing to wait for" if deadline is None else f"next at {deadline:g}"
    has = f"{machine.holder or 'nobody'} has epoch {machine.epoch}"
    return f"{has}, {line} in line; {waits}"


def played(story: Path) -> str:
    machine = turn.Turn(turn.TurnRules(limit=60, grace=10))
    told: list[str] = []
    for paragraph in story.read_text().strip().split("\n\n"):
        step = paragraph.partition("\n----")[0]
        time, verb, *arguments = step.splitlines()[-1].split()
        now = float(time)
        effects = (
            machine.tick(now)
            if verb == "tick"
            else machine.handle(happened(verb, arguments), now)
        )
        told.append("\n".join([step, "----", *map(shown, effects), seen(machine)]))
    return "\n\n".join(told) + "\n"


@pytest.mark.parametrize(
    "story", sorted(STORIES.glob("turn_*.txt")), ids=lambda story: story.stem
)
def test_the_story_goes_as_it_is_told(story: Path) -> None:
    if os.environ.get("REWRITE_TRANSCRIPTS"):
        story.write_text(played(story))

    assert played(story) == story.read_text()
