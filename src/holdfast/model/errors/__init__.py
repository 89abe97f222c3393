"""Every exception holdfast raises on purpose.

HoldfastError
├── UsageError              the request itself is wrong: fix the call
├── Forbidden               you may not, as things stand: get the authority first
├── PeerError               the other side broke the protocol: hang up
├── Unavailable             nothing was done: try again later
└── Unsettled               it may or may not have happened: look, do not repeat

Catch a branch, not a leaf: the five branches are the five things a caller can
do. A leaf keeps its facts, builds its own sentence and says what to do next.
Its `code` is for machines and never changes; the sentence may.

Leaves cross the wire as code and facts, and `from_facts` makes them again on
the other side: the names in `facts` are the parameters of the leaf.
"""

from holdfast.model.errors.branches import (
    Fact,
    Forbidden,
    HoldfastError,
    PeerError,
    Unavailable,
    Unsettled,
    UsageError,
)
from holdfast.model.errors.forbidden import (
    ApprovalMismatch,
    DeniedByOperator,
    DeniedByPolicy,
    Frozen,
    LogbookWithheld,
    NotAllowed,
    NotYourTurn,
    SelfApproval,
    StaleEpoch,
    TurnMoved,
    WiderThanGiven,
)
from holdfast.model.errors.peer import (
    FrameTooLarge,
    LogTampered,
    MalformedMessage,
    NoCommonVersion,
    UnexpectedMessage,
    UnknownFrameKind,
    WindowDamaged,
)
from holdfast.model.errors.rebuilding import (
    from_facts,
    leaves,
)
from holdfast.model.errors.unavailable import (
    ApprovalTimeout,
    AskRefused,
    Busy,
    LeaseHeld,
    LeaseLost,
    LogbookFailed,
    PolicyUnavailable,
    RolledBack,
    SessionLost,
    StoreFailed,
    TooManyClients,
    TooManyPending,
    TooManySessions,
)
from holdfast.model.errors.unsettled import (
    InputCut,
    OutcomeForgotten,
    OutcomeUnknown,
    StaleIncarnation,
)
from holdfast.model.errors.usage import (
    InputGap,
    InputIdReused,
    InputTooLarge,
    LineTooLong,
    MalformedId,
    MalformedKey,
    MalformedName,
    NegativeOffset,
    NotAsked,
    NothingPending,
    OffsetAhead,
    OffsetGone,
    OperatorNotHere,
    SessionNotFound,
    SessionOver,
    SizeOutOfRange,
    StillAlive,
    UnwritableMessage,
)

__all__ = [
    "ApprovalMismatch",
    "ApprovalTimeout",
    "AskRefused",
    "Busy",
    "DeniedByOperator",
    "DeniedByPolicy",
    "Fact",
    "Forbidden",
    "FrameTooLarge",
    "Frozen",
    "HoldfastError",
    "InputCut",
    "InputGap",
    "InputIdReused",
    "InputTooLarge",
    "LeaseHeld",
    "LeaseLost",
    "LineTooLong",
    "LogTampered",
    "LogbookFailed",
    "LogbookWithheld",
    "MalformedId",
    "MalformedKey",
    "MalformedMessage",
    "MalformedName",
    "NegativeOffset",
    "NoCommonVersion",
    "NotAllowed",
    "NotAsked",
    "NotYourTurn",
    "NothingPending",
    "OffsetAhead",
    "OffsetGone",
    "OperatorNotHere",
    "OutcomeForgotten",
    "OutcomeUnknown",
    "PeerError",
    "PolicyUnavailable",
    "RolledBack",
    "SelfApproval",
    "SessionLost",
    "SessionNotFound",
    "SessionOver",
    "SizeOutOfRange",
    "StaleEpoch",
    "StaleIncarnation",
    "StillAlive",
    "StoreFailed",
    "TooManyClients",
    "TooManyPending",
    "TooManySessions",
    "TurnMoved",
    "Unavailable",
    "UnexpectedMessage",
    "UnknownFrameKind",
    "Unsettled",
    "UnwritableMessage",
    "UsageError",
    "WiderThanGiven",
    "WindowDamaged",
    "from_facts",
    "leaves",
]
