"""Every event a session tells of: name, meaning, fields, and where it travels.

This is the one list. `holdfast watch`, the SDK, the tools for agents, the web page
and the logbook's story are checked against it, and docs/reference/events.md is
written from it. An event carries names and numbers, never terminal contents and
never a key; but for the text with which a program calls for somebody, made safe to
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
    SESSION_THAWED = (
        "session.thawed",
        "The processes run again.",
        "",
        "STATE",
        "thawed",
    )
    SESSION_SWEPT = (
        "session.swept",
        "The session was ended with what had left its shell; `left` of it still runs.",
        "leftovers names left",
        "EVENT",
        "swept",
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
    PROCESS_REPLACED = (
        "process.replaced",
        "A process of holdfast hung and was replaced; `watch` prints it once.",
        "what pid why",
    )
    TURN_PASSED = (
        "turn.passed",
        "The turn changed hands; an empty name is nobody.",
        "former holder epoch how",
        "TURN_PASSED",
        "turn",
    )
    TURN_ASKED = (
        "turn.asked",
        "Somebody asks for your turn, and waits `wait` seconds.",
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
        "It was decided; without `approver`, by the end of the time or of the turn.",
        "ticket approver verdict",
        "SETTLED",
        "answered",
    )
    ATTENTION_CALLED = (
        "attention.called",
        "Somebody is called for: by the bell, a program's notification or `notify`.",
        "what text source since_ms",
    )
    ATTENTION_CLEARED = (
        "attention.cleared",
        "It is not called for any more: `actor` typed something.",
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
        "`watch` found the session and begins to watch it.",
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
        "`watch`, which looks every second, found the session doing something else.",
        "state former",
        "",
    )
