"""`holdfast autonomy`: how much each agent may do unasked, and what it has earned."""

import argparse
import hashlib
import json
import os
import sys

from holdfast.cli.approvals import EXIT_LEFT
from holdfast.cli.operator_names import Names
from holdfast.cli.table import table
from holdfast.cli.verbs.score import told
from holdfast.client.authority import demand_grant
from holdfast.core.autonomy.figures import Figures
from holdfast.core.autonomy.ladder import Step
from holdfast.core.autonomy.steps import TARGET, proposed
from holdfast.linux.stored import ladder_steps
from holdfast.linux.stored.act_traces import ActTraces
from holdfast.linux.stored.autonomy_state import AutonomyState, autonomy_state
from holdfast.model.errors import MalformedArgument, StepRefused
from holdfast.model.ids import ActorId
from holdfast.model.text import bounded, printable

ACTIONS = ("list", "suggest", "accept")
TITLES = ("OPERATOR", "RUNG", "KIND OF ACTION", "ACTS SINCE", "CLEAN")
REQUEST = "autonomy accept"
"""What a refusal is on record as."""

CODE = 8
"""Digits that a suggestion is known by."""

OFF = (
    "The policy in force has no [autonomy]: agents stand where its rules and defaults"
    " put them, whatever they earn."
)
EMPTY = "No step was ever made: everybody stands where the policy says."
NOTHING = (
    f"Nothing to suggest: for no kind of action is it sure that over {TARGET:.0%} of"
    " the acts are clean. `holdfast score` has the figures."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("what", metavar="WHAT", nargs="?", default="list")
    parser.add_argument("code", metavar="CODE", nargs="?")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Show the ladder, or propose a step, or make it."""
    if options.what not in ACTIONS or (options.code and options.what != "accept"):
        wanted = "list, suggest or accept"
        raise MalformedArgument(printable(options.what, 64), wanted)
    us = demand_grant(REQUEST) if options.what == "accept" else None
    traces = ActTraces()
    traces.look()
    state = autonomy_state(traces)
    for session, why in traces.troubles.items():
        print(f"holdfast: {session}: {printable(why)}", file=sys.stderr)
    if options.what == "list":
        return show(state, as_json=options.json)
    step = proposed(state.score, state.ladder, state.ceilings)
    if options.what == "suggest" or step is None:
        return suggest(step, state, as_json=options.json)
    if not _confirmed(options, step, state):
        print("holdfast: no step was made")
        return EXIT_LEFT
    made = ladder_steps.make(step, us)
    if options.json:
        print(json.dumps({"accepted": step_facts(step), "policy": made.digest}))
    else:
        print(f"{_sentence(step)}, from now on")
    return 0


def code_of(step: Step) -> str:
    """Return what a suggestion is known by: another step has another code."""
    text = f"{step.actor}\n{step.action}\n{step.before}\n{step.after}"
    return hashlib.sha256(text.encode()).hexdigest()[:CODE]


def show(state: AutonomyState, *, as_json: bool) -> int:
    """Print every rung that was stepped on, with the figures since then."""
    rows = [
        (actor, rung.value, action, state.score.kinds.get((actor, action), Figures()))
        for (actor, action), rung in sorted(state.ladder.rungs.items())
    ]
    if as_json:
        rungs = [
            {"actor": actor, "action": action, "rung": rung, "acts": figures.acts}
            for actor, rung, action, figures in rows
        ]
        print(json.dumps({"rungs": rungs, "steps": state.ladder.count}, indent=2))
        return 0
    if not state.ceilings:
        print(OFF, file=sys.stderr)
    if not rows:
        print(EMPTY, file=sys.stderr)
        return 0
    names = Names(asks=False)
    shown = [
        (
            names.shown(ActorId(actor)),
            rung,
            bounded(action, 60),
            str(figures.acts),
            told(figures.cleanness),
        )
        for actor, rung, action, figures in rows
    ]
    for line in table([TITLES, *shown]):
        print(line)
    return 0


def suggest(step: Step | None, state: AutonomyState, *, as_json: bool) -> int:
    """Print the one step that the figures speak for, and the figures."""
    if as_json:
        facts = None if step is None else {**step_facts(step), "code": code_of(step)}
        print(json.dumps({"suggestion": facts}))
        return 0
    if step is None:
        print(NOTHING if state.ceilings else OFF, file=sys.stderr)
        return 0
    _explain(step, state)
    print(f"to accept it: holdfast autonomy accept {code_of(step)}")
    return 0


def step_facts(step: Step) -> dict[str, str]:
    """Return a step as plain JSON."""
    return {
        "actor": step.actor,
        "action": step.action,
        "from": step.before.value,
        "to": step.after.value,
        "why": step.why,
    }


def _explain(step: Step, state: AutonomyState) -> None:
    figures = state.score.kinds[step.actor, step.action]
    print(_sentence(step))
    print(f"  because {step.why}")
    print(f"  valid {told(figures.validity)}, success {told(figures.success)}")
    print(
        f"  {figures.unintended} unintended effects, {figures.undecided} not compared,"
        f" {figures.approved} approved, {figures.denied_by_operators} denied,"
        f" {figures.seized} ended by a seizure"
    )


def _sentence(step: Step) -> str:
    who = Names(asks=False).shown(ActorId(step.actor))
    what = printable(step.action)
    return f"{who}: {what} goes from {step.before.value} to {step.after.value}"


def _confirmed(options: argparse.Namespace, step: Step, state: AutonomyState) -> bool:
    if options.code is not None and options.code != code_of(step):
        raise StepRefused("something else is suggested by now")
    if options.yes:
        if options.code is None:
            raise MalformedArgument("--yes", "given with the code of a suggestion")
        return True
    if options.json or not (os.isatty(0) and os.isatty(1)):
        raise MalformedArgument(REQUEST, "given with --yes where nobody is asked")
    _explain(step, state)
    print("Accept it? y/N: ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
