"""What happened, by a name that logs, metrics and tests agree on.

Names are `subject.past`, never reused, and listed with their fields in
docs/reference/events.md; a test compares the two. An event carries names and
numbers, never terminal contents and never a key.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.model.ids import SessionId


class EventName(enum.StrEnum):
    """Every event holdfast publishes."""

    SESSION_STARTED = "session.started"
    SESSION_EXITED = "session.exited"
    SESSION_LOST = "session.lost"
    SESSION_FROZEN = "session.frozen"
    SESSION_THAWED = "session.thawed"
    SESSION_FENCED = "session.fenced"
    SESSION_UNFENCED = "session.unfenced"
    SESSION_RECOVERED = "session.recovered"
    SESSION_REAPED = "session.reaped"
    SESSION_FAILED = "session.failed"
    SESSION_SWEPT = "session.swept"
    LISTENER_GONE = "listener.gone"
    PROCESS_REPLACED = "process.replaced"
    END_ASKED = "end.asked"
    KILL_ESCALATED = "kill.escalated"
    OPERATOR_ATTACHED = "operator.attached"
    OPERATOR_DETACHED = "operator.detached"
    VIEWER_CUT = "viewer.cut"
    TURN_PASSED = "turn.passed"
    INPUT_APPLIED = "input.applied"
    INPUT_REFUSED = "input.refused"
    INPUT_DROPPED = "input.dropped"
    INPUT_UNSETTLED = "input.unsettled"
    GATE_ASKED = "gate.asked"
    GATE_ANSWERED = "gate.answered"
    LEASE_GRANTED = "lease.granted"
    LEASE_REFUSED = "lease.refused"
    LEASE_EXPIRED = "lease.expired"
    LOG_TORN = "log.torn"
    LOG_SUSPECT = "log.suspect"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one session."""

    name: EventName
    session: SessionId
    fields: Mapping[str, str | int] = field(default_factory=dict)
