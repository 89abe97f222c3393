"""Every metric: name, kind, meaning, and all values its labels can have.

This is the one list. Holders, hosts and relays count by it, docs/reference/metrics.md
is written from it, and the dashboard is checked against it. A label has few fixed
values: never the name of a session or an operator, never what was typed or printed.
What is none of the values counts as OTHER. A name is never reused.

Counters of a session are kept in a file that outlives its holder; the layout of that
file follows from this list (core/telemetry/session_counts.py).
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"

OTHER = "other"
"""The value of a label for what is none of its values."""

SESSION, HOST, RELAY = "session", "host", "relay"
"""Where a metric is counted: in each session's holder, or in one of the others."""

KINDS = ("human", "agent", "service", "device")
VERDICTS = ("allow", "ask", "preview", "deny", "none")
TURNS = (
    *("taken", "given", "answered", "defaulted", "dropped", "seized"),
    *("expired", "abandoned", "revoked"),
)
STATES = ("starting", "running", "frozen", "fenced", "stalled", "exited")
PROCESSES = (
    *("keeper", "trustee", "nursery", "dozer", "host", "relay", "painter", "judge"),
    "holders",
)

INSTANT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Seconds around the budget of a seize, 0.05."""

STANDSTILL = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds in which a checkpoint or a restore of usual programs is done."""


class Metric(NamedTuple):
    """One metric."""

    name: str
    kind: str
    what: str
    """What it counts, in a sentence."""

    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Each label with its values; OTHER goes without saying."""

    where: str = SESSION
    buckets: tuple[float, ...] = ()
    """Of a histogram: upper bounds, in rising order."""

    shows: str = ""
    """The signature of the contract that it makes visible."""

    def combinations(self) -> Iterator[tuple[str, ...]]:
        """Return every combination of values of its labels."""
        return itertools.product(*((*values, OTHER) for _, values in self.labels))

    def fitting(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """Return values as they are counted: what is unknown is OTHER."""
        pairs = zip(values, self.labels, strict=True)
        return tuple(one if one in known else OTHER for one, (_, known) in pairs)


def _labels(**known: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(known.items())


SESSION_METRICS = (
    Metric(
        "holdfast_attaches_total",
        COUNTER,
        "Clients that attached to a session.",
        _labels(actor=KINDS),
        shows="7.1",
    ),
    Metric(
        "holdfast_detaches_total",
        COUNTER,
        "Clients that left a session, or lost their link.",
        _labels(actor=KINDS),
        shows="7.1",
    ),
    Metric(
        "holdfast_reattaches_total",
        COUNTER,
        "Clients that came back with an offset: to the same processes (unchanged), or"
        " to a later incarnation (changed).",
        _labels(lineage=("unchanged", "changed")),
        shows="7.1",
    ),
    Metric(
        "holdfast_resumed_bytes_total",
        COUNTER,
        "Output that was kept while a client was away and was there when it came back.",
        shows="7.1",
    ),
    Metric(
        "holdfast_gap_bytes_total",
        COUNTER,
        "Output that a client missed because the window no longer had it: when it came"
        " back (reattach), or because it read too slowly (slow).",
        _labels(why=("reattach", "slow")),
        shows="7.1",
    ),
    Metric(
        "holdfast_inputs_total",
        COUNTER,
        "Inputs by the operator's kind, the policy's verdict (none if it was not"
        " asked), and whether they were admitted.",
        _labels(actor=KINDS, verdict=VERDICTS, result=("admitted", "refused")),
        shows="7.7, 7.8",
    ),
    Metric(
        "holdfast_inputs_staged_by_others_total",
        COUNTER,
        "Inputs that ran what another operator had staged, by the kind of who ran it.",
        _labels(actor=KINDS),
        shows="7.8",
    ),
    Metric(
        "holdfast_inputs_unfinished_total",
        COUNTER,
        "Admitted inputs that were not written whole: cut by a seize or a freeze,"
        " dropped before the first byte, or unknown after a crash; none is repeated.",
        _labels(outcome=("cut", "dropped", "unknown")),
        shows="7.5, 7.6",
    ),
    Metric(
        "holdfast_approvals_asked_total",
        COUNTER,
        "Inputs that waited for approval.",
        shows="7.8",
    ),
    Metric(
        "holdfast_approvals_answered_total",
        COUNTER,
        "Answers of operators to what waited for approval.",
        _labels(answer=("yes", "no")),
        shows="7.8",
    ),
    Metric(
        "holdfast_execs_total",
        COUNTER,
        "Programs that the exec gate held, by what became of them.",
        _labels(result=("approved", "refused")),
        shows="7.8",
    ),
    Metric(
        "holdfast_turns_total",
        COUNTER,
        "Changes of the turn, by reason.",
        _labels(reason=TURNS),
        shows="7.7",
    ),
    Metric(
        "holdfast_thrown_away_inputs_total",
        COUNTER,
        "Queued inputs that were thrown away when the turn moved, or at a freeze,"
        " a fence or the end.",
        shows="7.7",
    ),
    Metric(
        "holdfast_seize_seconds",
        HISTOGRAM,
        "Time from hearing a seize until nothing of the former holder is written.",
        buckets=INSTANT,
        shows="7.7",
    ),
    Metric(
        "holdfast_freezes_total",
        COUNTER,
        "Times that all processes of a session were stopped.",
        shows="7.7",
    ),
    Metric(
        "holdfast_fences_total",
        COUNTER,
        "Times that a lease ran out and the session was stopped (fenced), or was"
        " granted again to the same incarnation (lifted).",
        _labels(change=("fenced", "lifted")),
        shows="7.2",
    ),
    Metric(
        "holdfast_incarnations_total",
        COUNTER,
        "Lives of sessions, by how they began: new, forked, restored from an image,"
        " moved here, or started again after a loss (recovered).",
        _labels(how=("new", "forked", "restored", "moved", "recovered")),
        shows="7.2, 7.4, 7.5",
    ),
    Metric(
        "holdfast_restore_seconds",
        HISTOGRAM,
        "Time from the begin of a restore until the session answers again.",
        buckets=STANDSTILL,
        shows="7.2",
    ),
    Metric(
        "holdfast_takeovers_total",
        COUNTER,
        "Times that another holder took up the same life, after a crash, an upgrade or"
        " a doze; no input is replayed.",
        shows="7.5",
    ),
    Metric(
        "holdfast_checkpoints_total",
        COUNTER,
        "Images made, by what became of the session: it continued (running), stopped,"
        " left for another host (moved), or was copied for a branch (forked).",
        _labels(then=("running", "stopped", "moved", "forked")),
        shows="7.2, 7.4",
    ),
    Metric(
        "holdfast_checkpoint_failures_total",
        COUNTER,
        "Images that could not be made; the session continued.",
        shows="7.2",
    ),
    Metric(
        "holdfast_checkpoint_bytes_total",
        COUNTER,
        "Size of all images made.",
        shows="7.2",
    ),
    Metric(
        "holdfast_checkpoint_seconds",
        HISTOGRAM,
        "Time for which a session stood still for an image.",
        buckets=STANDSTILL,
        shows="7.2",
    ),
    Metric(
        "holdfast_connections_cut_total",
        COUNTER,
        "Connections to elsewhere that an image does not have, and its programs lose.",
        shows="7.2, 7.3",
    ),
    Metric(
        "holdfast_reaps_total",
        COUNTER,
        "Idle sessions that were reaped, by reason.",
        _labels(reason=("idle-window", "population-cap", "memory-cap", "drain")),
        shows="7.9",
    ),
    Metric(
        "holdfast_exits_total",
        COUNTER,
        "Sessions that ended, by how: exit status 0 (ok), another (failed), a signal,"
        " or not known.",
        _labels(how=("ok", "failed", "signal", "unknown")),
    ),
    Metric(
        "holdfast_commands_total",
        COUNTER,
        "Commands that a shell ran, by how they ended.",
        _labels(result=("ok", "failed", "unknown")),
    ),
    Metric(
        "holdfast_limits_met_total",
        COUNTER,
        "Times that a session reached a limit.",
        _labels(limit=("memory", "pids")),
    ),
    Metric(
        "holdfast_listeners_gone_total",
        COUNTER,
        "Ports that a session's process no longer listens on.",
    ),
)
"""What each holder counts."""

HOST_METRICS = (
    Metric(
        "holdfast_up",
        GAUGE,
        "Whether this part of holdfast answers.",
        _labels(process=("keeper", "host")),
        HOST,
    ),
    Metric(
        "holdfast_sessions",
        GAUGE,
        "Sessions by state.",
        _labels(state=STATES),
        HOST,
        shows="7.9",
    ),
    Metric(
        "holdfast_sessions_dozing",
        GAUGE,
        "Sessions without a holder, because nothing happens in them.",
        where=HOST,
        shows="7.9",
    ),
    Metric(
        "holdfast_sessions_reap_warned",
        GAUGE,
        "Sessions that are going to be reaped unless they are used.",
        where=HOST,
        shows="7.9",
    ),
    Metric(
        "holdfast_sessions_runtime",
        GAUGE,
        "Sessions that have not ended, by how they run.",
        _labels(runtime=("plain", "capsule")),
        HOST,
    ),
    Metric(
        "holdfast_resident_bytes",
        GAUGE,
        "Memory of holdfast's own processes, shared pages counted in each.",
        _labels(process=PROCESSES),
        HOST,
        shows="7.1",
    ),
    Metric(
        "holdfast_processes",
        GAUGE,
        "Processes of holdfast that run.",
        _labels(process=PROCESSES),
        HOST,
    ),
    Metric(
        "holdfast_processes_replaced_total",
        COUNTER,
        "Processes of holdfast that hung and were replaced, since the keeper started.",
        where=HOST,
    ),
    Metric(
        "holdfast_uplinks",
        GAUGE,
        "Links of this host to relays.",
        _labels(state=("up", "down")),
        HOST,
    ),
    Metric(
        "holdfast_leases",
        GAUGE,
        "Leases of movable sessions on this host.",
        _labels(state=("held", "lost")),
        HOST,
        shows="7.2",
    ),
    Metric(
        "holdfast_remote_operators",
        GAUGE,
        "Channels of remote operators that are open now.",
        where=HOST,
    ),
    Metric(
        "holdfast_remote_channels_total",
        COUNTER,
        "Remote operators that were let in, turned away, or did not meet us, since the"
        " host started.",
        _labels(result=("admitted", "refused", "missed")),
        HOST,
    ),
    Metric(
        "holdfast_remote_bytes_total",
        COUNTER,
        "Bytes exchanged with remote operators since the host started.",
        _labels(direction=("in", "out")),
        HOST,
    ),
    Metric(
        "holdfast_metrics_seconds",
        GAUGE,
        "Processor time that collecting these metrics took.",
        where=HOST,
    ),
)
"""What a host knows of its sessions and processes."""


def _relay(
    name: str, kind: str, what: str, why: str = "", *, shows: str = ""
) -> Metric:
    labels = ((why, ()),) if why else ()
    return Metric(f"holdfast_relay_{name}", kind, what, labels, RELAY, shows=shows)


RELAY_METRICS = (
    _relay("hosts", GAUGE, "Hosts that are registered now."),
    _relay("operators_waiting", GAUGE, "Operators whose host has not come yet."),
    _relay("pairs", GAUGE, "Operators joined with their host now."),
    _relay("sessions", GAUGE, "Sessions that hosts have published."),
    _relay("unproven", GAUGE, "Connections that have not said yet who they are."),
    _relay("links", GAUGE, "Connections of every kind."),
    _relay("leases", GAUGE, "Sessions whose lease is held now.", shows="7.2"),
    _relay("connections_total", COUNTER, "Connections taken."),
    _relay(
        "turned_away_total", COUNTER, "Connections hung up on before a byte was read."
    ),
    _relay("requests_refused_total", COUNTER, "Requests refused, by why.", "why"),
    _relay("refusals_total", COUNTER, "Peers refused once heard, by code.", "why"),
    _relay("pairs_total", COUNTER, "Pairs joined."),
    _relay("bytes_total", COUNTER, "Bytes passed on within pairs."),
    _relay("cuts_total", COUNTER, "Connections cut by us, by why.", "why"),
    _relay(
        "lease_answers_total",
        COUNTER,
        "Questions about leases answered, by code.",
        "why",
        shows="7.2",
    ),
)
"""What a relay counts. The values of `why` are codes that the relay itself chooses."""

METRICS = (*SESSION_METRICS, *HOST_METRICS, *RELAY_METRICS)

BY_NAME = {one.name: one for one in METRICS}
