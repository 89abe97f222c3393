"""`holdfast score`: how agents' acts came out, for each kind of action."""

import argparse
import datetime as dt
import json
import sys

from holdfast.cli.operator_names import Names, operator_from
from holdfast.cli.since import since_from
from holdfast.cli.table import table
from holdfast.core.autonomy.figures import Figures, Proportion, Score, scored
from holdfast.core.autonomy.trace import Trace
from holdfast.linux.stored.act_traces import ActTraces
from holdfast.model.errors import MalformedArgument
from holdfast.model.ids import ActorId
from holdfast.model.text import bounded, printable

TITLES = ("KIND OF ACTION", "ACTS", "VALID", "SUCCESS", "CLEAN", "0 ── CLEAN ── 1")
MORE = ("UNINTENDED", "UNDECIDED", "ASKED", "APPROVED", "DENIED", "SEIZED", "MEDIAN")
WIDTH = 21
"""Columns of a plot: one for each twentieth, and one for 1."""

MAX_KIND = 48
MAX_SHOWN = 20
"""Kinds of action listed for each operator, unless all are wanted."""

NONE = "No agent, service or device has done anything that is on record here."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("agent", metavar="AGENT", nargs="?")
    parser.add_argument("--since", metavar="WHEN")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Read all logbooks, and show what they say."""
    since = _since(options.since)
    wanted = None if options.agent is None else operator_from(options.agent).actor.id
    traces = ActTraces()
    traces.look()
    acts = (
        act
        for act in traces.acts()
        if act.at_wall_ms >= since and wanted in (None, act.actor)
    )
    score = scored(acts)
    for session, why in traces.troubles.items():
        print(f"holdfast: {session}: {printable(why)}", file=sys.stderr)
    if options.json:
        print(json.dumps(_facts(score, traces), indent=2))
    else:
        show(score, traces.traces(), Names(asks=False), all_kinds=options.all)
    return 0


def show(score: Score, traces: list[Trace], names: Names, *, all_kinds: bool) -> None:
    """Print a table and a plot for each operator."""
    if not score.total:
        print(NONE, file=sys.stderr)
    for actor, total in sorted(score.total.items()):
        print(
            f"{names.shown(ActorId(actor))}: {total.acts} acts{_against(actor, traces)}"
        )
        rows = [_row("all", total)]
        kinds = sorted(
            (
                (-figures.acts, kind, figures)
                for (who, kind), figures in score.kinds.items()
                if who == actor
            ),
            key=lambda one: one[:2],
        )
        listed = kinds if all_kinds else kinds[:MAX_SHOWN]
        rows += [_row(kind, figures) for _, kind, figures in listed]
        for line in table([(*TITLES, *MORE), *rows]):
            print(f"  {line}")
        if len(listed) < len(kinds):
            print(f"  … and {len(kinds) - len(listed)} more kinds: --all lists them")


def plot(found: Proportion) -> str:
    """Draw a proportion and its interval from 0 to 1; nothing of nothing."""
    rate = found.rate
    if rate is None:
        return "·" * WIDTH
    low, high = (round(one * (WIDTH - 1)) for one in found.interval)
    cells = ["─" if low <= place <= high else "·" for place in range(WIDTH)]
    cells[round(rate * (WIDTH - 1))] = "●"
    return "".join(cells)


def told(found: Proportion) -> str:
    """Return a proportion with its interval."""
    if found.rate is None:
        return "-"
    low, high = found.interval
    return f"{found.rate:.2f} ({low:.2f} to {high:.2f}, {found.of})"


def _since(when: str | None) -> int:
    if when is None:
        return -1
    found = since_from(when, dt.datetime.now().astimezone()).at_wall_ms
    if found is None:
        raise MalformedArgument(printable(when, 64), "a time such as 2h or 2026-01-31")
    return found


def _against(actor: str, traces: list[Trace]) -> str:
    declined = sum(one.declined.get(actor, 0) for one in traces)
    seized = sum(one.seized.get(actor, 0) for one in traces)
    said = [
        f"{count} {what}"
        for count, what in (
            (declined, "requests turned away"),
            (seized, "turns seized from it"),
        )
        if count
    ]
    return "".join(f", {one}" for one in said)


def _row(kind: str, figures: Figures) -> tuple[str, ...]:
    median = figures.median_ms
    denied = figures.denied_by_policy + figures.denied_by_operators
    return (
        bounded(kind, MAX_KIND),
        str(figures.acts),
        told(figures.validity),
        told(figures.success),
        told(figures.cleanness),
        plot(figures.cleanness),
        str(figures.unintended),
        str(figures.undecided),
        str(figures.asked),
        str(figures.approved),
        str(denied),
        str(figures.seized),
        "-" if median is None else f"{median} ms",
    )


def _facts(score: Score, traces: ActTraces) -> dict[str, object]:
    return {
        "entries": traces.count,
        "troubles": traces.troubles,
        "operators": [
            {
                "actor": actor,
                **figure_facts(total),
                "kinds": [
                    {"kind": kind, **figure_facts(figures)}
                    for (who, kind), figures in sorted(score.kinds.items())
                    if who == actor
                ],
            }
            for actor, total in sorted(score.total.items())
        ],
    }


def figure_facts(figures: Figures) -> dict[str, object]:
    """Return figures as plain JSON."""
    names = ("acts", "invalid", "asked", "approved", "ran", "succeeded", "failed")
    more = ("matched", "unintended", "undecided", "clean", "unclean", "seized")
    last = ("denied_by_policy", "denied_by_operators", "retried", "median_ms")
    rates = {
        "validity": figures.validity,
        "success": figures.success,
        "cleanness": figures.cleanness,
    }
    return {
        **{name: getattr(figures, name) for name in (*names, *more, *last)},
        **{
            name: {"rate": one.rate, "low": one.interval[0], "high": one.interval[1]}
            for name, one in rates.items()
        },
    }
