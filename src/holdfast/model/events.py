"""Every event a session tells of: name, meaning, fields, and where it travels.

This is the one list. `holdfast watch`, the SDK, the tools for agents, the web page
and the logbook's story are checked against it, and docs/reference/events.md is
written from it. An event carries names and numbers, never terminal contents and
never a key; except the text of a program's call for attention, made safe to
print and cut. A name is never reused.
"""

import enum
from typing import Self


class EventName(enum.StrEnum):
    """An event, with what a reader of it needs to know."""

    when: str
    """What has happened, in a sentence."""

    fields: tuple[str, ...]
    message: str
    """The kind of frame in which a holder tells of it; empty: `watch` finds out."""

    entry: str
    """The kind of logbook entry that keeps it; empty: none does."""

    def __new__(
        cls,
        name: str,
        when: str,
        fields: str = "",
        message: str = "EVENT",
        entry: str = "",
    ) -> Self:
        """Make one of the members below."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.when, made.fields = when, tuple(fields.split())
        made.message, made.entry = message, entry
        return made

    SESSION_EXITED = (
        "session.exited",
        "The session ended; a status below zero is a signal.",
        "status",
        "EXITED",
        "exited",
    )
    SESSION_FROZEN = (
        "session.frozen",
        "Every process of the session was stopped.",
        "",
        "STATE",
        "frozen",
    )
    SESSION_FENCED = (
        "session.fenced",
        "The session's lease ran out, and all its processes were stopped.",
        "",
        "STATE",
        "fenced",
    )
    SESSION_THAWED = (
        "session.thawed",
        "The processes run again.",
        "",
        "STATE",
        "thawed",
    )
    SESSION_SWEPT = (
        "session.swept",
        "The session was ended with its daemons; `left` of them still run.",
        "leftovers names left",
        "EVENT",
        "swept",
    )
    SESSION_CHECKPOINTED = (
        "session.checkpointed",
        "The session was saved to disk, and continues.",
        "actor image label size still_ms",
        "EVENT",
        "imaged",
    )
    SESSION_FORKED = (
        "session.forked",
        "A branch of the session was made; the session continues.",
        "actor still_ms",
        "EVENT",
        "forked",
    )
    SESSION_STOPPED = (
        "session.stopped",
        "The session was saved to disk and stopped; restore `image` to continue.",
        "actor image label size still_ms",
        "EVENT",
        "stopped",
    )
    SESSION_RESTORED = (
        "session.restored",
        "A session that you or `watch` had seen was restored from an image.",
        "incarnation",
        "EVENT",
        "recovered",
    )
    SESSION_RECOVERED = (
        "session.recovered",
        "A session that you or `watch` had seen was lost, and was started again.",
        "incarnation",
        "EVENT",
        "recovered",
    )
    SESSION_REAPED = (
        "session.reaped",
        "The session was idle and was ended; it is on disk as `image`, if set.",
        "actor why idle_s image",
        "EVENT",
        "ending",
    )
    REAP_WARNED = (
        "reap.warned",
        "The session is idle: it is reaped at `reaps_ms`, unless it is used.",
        "reaps_ms why",
    )
    REAP_LIFTED = (
        "reap.lifted",
        "The session will no longer be reaped.",
    )
    HOST_DRAINING = (
        "host.draining",
        "The host goes down at `ends_ms`, and the session could not be put to disk.",
        "ends_ms",
    )
    FREEZE_MISSED = (
        "freeze.missed",
        "A process was not stopped by a freeze.",
        "pid why",
    )
    THAW_MISSED = (
        "thaw.missed",
        "A process was stopped again during a thaw.",
        "pid why",
    )
    POLICY_KEPT = (
        "policy.kept",
        "The policy file was not applied; the policy in force stays.",
        "text",
    )
    LISTENER_GONE = (
        "listener.gone",
        "A process of the session no longer listens on its port.",
        "protocol address port pid command",
        "EVENT",
        "unbound",
    )
    LIMIT_MET = (
        "limit.met",
        "The session reached a limit: a program was killed, or it could not fork.",
        "limit most count program pid",
        "EVENT",
        "limited",
    )
    PROCESS_REPLACED = (
        "process.replaced",
        "A holdfast process hung and was replaced; `watch` prints it once.",
        "what pid why",
    )
    TURN_PASSED = (
        "turn.passed",
        "The turn changed hands; an empty name means that it is free.",
        "former holder epoch how",
        "TURN_PASSED",
        "turn",
    )
    TURN_ASKED = (
        "turn.asked",
        "Another operator asks for your turn, and waits `wait` seconds.",
        "actor wait",
        "TURN_ASKED",
    )
    GATE_ASKED = (
        "gate.asked",
        "An input or a command waits for approval.",
        "actor ticket rule input",
        "PENDING",
        "asked",
    )
    GATE_ANSWERED = (
        "gate.answered",
        "It was decided; without `approver`, its time ran out or the turn ended.",
        "ticket approver verdict",
        "SETTLED",
        "answered",
    )
    ATTENTION_CALLED = (
        "attention.called",
        "A call for attention: the bell, a program's notification or `notify`.",
        "what text source since_ms",
    )
    ATTENTION_CLEARED = (
        "attention.cleared",
        "The call was cleared: `actor` typed something.",
        "what actor",
    )
    COMMAND_STARTED = (
        "command.started",
        "The shell runs a command.",
        "number line",
        "COMMAND_STARTED",
        "began",
    )
    COMMAND_ENDED = (
        "command.ended",
        "The command ended; a status of -1 is unknown.",
        "number line status duration_ms",
        "COMMAND_ENDED",
        "finished",
    )
    SESSION_SEEN = (
        "session.seen",
        "`watch` found the session and started watching it.",
        "",
        "",
    )
    SESSION_UNREACHABLE = (
        "session.unreachable",
        "`watch` cannot reach the session or its host.",
        "why",
        "",
    )
    STATE_CHANGED = (
        "state.changed",
        "The session's state changed; `watch` looks every second.",
        "state former",
        "",
    )
