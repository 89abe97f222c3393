"""The messages of the wire.

One frozen Struct per frame kind, in the order of FrameKind. Every field has a
bound, so that what a peer can make us hold is known beforehand:

- numbers are whole, and under 2^53, so that a browser can hold them;
- times are milliseconds, and lengths of time rather than moments, because no
  two clocks agree;
- texts, bytes, lists and maps have a greatest length; the largest message of
  each kind fits one frame.

No field has a default: each is written every time, and there is one way to
write each message (codec). An empty actor or client id means nobody.
Specified in docs/spec/wire.md, section 4, which a test compares with this file.
"""

import enum
from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct

from holdfast.model.actors import ActorKind
from holdfast.model.errors import Fact, HoldfastError
from holdfast.model.geometry import MAX_SIDE, Size
from holdfast.model.ids import (
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    Index,
    SessionId,
)
from holdfast.model.inputs import MAX_INPUT, Input, InputId, InputKind
from holdfast.model.text import MAX_NAME
from holdfast.model.verdicts import Verdict
from holdfast.wire.versions import MAX_OFFERED, MAX_VERSION

# ── bounds ────────────────────────────────────────────────────────────────────

MAX_NUMBER: Final = 2**53 - 1
"""The greatest whole number that a browser holds exactly."""

MAX_OUTPUT: Final = 64 * 1024
"""Bytes in one OUTPUT: what is read from a terminal at once; anything that has
to overtake a flood waits behind no more than this."""

MAX_KEYFRAME_PART: Final = 128 * 1024
"""Bytes in one KEYFRAME: a painted screen of common size; larger ones come in
parts."""

MAX_TEXT: Final = 1024
"""Characters in a sentence for people."""

MAX_WORD: Final = 64
"""Characters in a word for machines: an error code, a state, an event's name."""

MAX_FACTS: Final = 16
"""Facts about one error or event."""

MAX_FACT_NAME: Final = 32
"""Characters in the name of a fact, which is the name of a parameter."""

MAX_OPERATORS: Final = 256
"""Operators listed in ATTACHED: five times what the budgets speak of."""

MAX_EXCERPT: Final = 4 * 1024
"""Bytes shown of an input that waits for approval: a canonical line is less."""

MAX_RUNS: Final = 256
"""Characters that say what a line runs: two lines on a screen."""

MAX_THING: Final = 120
"""Characters of what it is called; of a longer path, its end."""

MAX_USED: Final = 6
"""Things listed that a line uses: what people read before they decide."""

MAX_HANDS: Final = 4
"""Operators named who had a hand in one of them."""

MAX_PREVIEW: Final = 2560
"""Characters that tell what a preview showed: one screen."""

MAX_SIGNAL: Final = 64
"""The highest signal number of Linux."""

MAX_ASK_MS: Final = 24 * 60 * 60 * 1000
"""The longest that an operator waits for the turn: a day."""

DIGEST: Final = 32
"""Bytes of a SHA-256 digest."""

SIGNATURE: Final = 64
"""Bytes of an Ed25519 signature."""

# ── what fields are made of ───────────────────────────────────────────────────

# `$` also matches before a last newline; the look-ahead refuses that. In the
# regular expressions of a browser it changes nothing.
_END = r"$(?!\n)"
RAW = {"tsType": "Uint8Array"}
_WORD = Meta(pattern="^[a-z][a-z0-9.-]*" + _END, max_length=MAX_WORD)
_ACTOR = "^a_[a-z2-7]{32}" + _END
_CLIENT = "^c_[a-z2-7]{16}" + _END

Number = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Positive = Annotated[int, Meta(ge=1, le=MAX_NUMBER)]
Side = Annotated[int, Meta(ge=1, le=MAX_SIDE)]
Version = Annotated[int, Meta(ge=0, le=MAX_VERSION)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Name = Annotated[str, Meta(max_length=MAX_NAME)]
Word = Annotated[str, _WORD]
Digest = Annotated[
    bytes, Meta(min_length=DIGEST, max_length=DIGEST, extra_json_schema=RAW)
]
Signature = Annotated[
    bytes, Meta(min_length=SIGNATURE, max_length=SIGNATURE, extra_json_schema=RAW)
]

Session = Annotated[SessionId, Meta(pattern="^s_[a-z2-7]{16}" + _END, max_length=18)]
Actor = Annotated[ActorId, Meta(pattern=_ACTOR, max_length=34)]
Client = Annotated[ClientId, Meta(pattern=_CLIENT, max_length=18)]
ActorOrNobody = Annotated[ActorId, Meta(pattern=f"^{_END}|{_ACTOR}", max_length=34)]
ClientOrNobody = Annotated[ClientId, Meta(pattern=f"^{_END}|{_CLIENT}", max_length=18)]
Life = Annotated[Incarnation, Meta(ge=1, le=MAX_NUMBER)]
TurnEpoch = Annotated[Epoch, Meta(ge=0, le=MAX_NUMBER)]
LogIndex = Annotated[Index, Meta(ge=0, le=MAX_NUMBER)]

FactName = Annotated[
    str, Meta(pattern="^[a-z][a-z0-9_]*" + _END, max_length=MAX_FACT_NAME)
]
FactNumber = Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Facts = Annotated[Mapping[FactName, Text | FactNumber], Meta(max_length=MAX_FACTS)]


class ClientKind(enum.StrEnum):
    """What sort of program is at the other end.

    HELLO takes any word: one nobody knows yet must not end a link before its
    version is agreed on.
    """

    CLI = "cli"
    WEB = "web"
    SDK = "sdk"
    MCP = "mcp"
    SERVICE = "service"


class Mode(enum.StrEnum):
    """What an attachment is for: watching only, or acting as well."""

    OBSERVE = "observe"
    OPERATE = "operate"


class Halt(enum.StrEnum):
    """What a seize does to the programs that run."""

    NONE = "none"
    FREEZE = "freeze"
    INTERRUPT = "interrupt"


class Ending(enum.StrEnum):
    """How an accepted input ended that was not applied (model.outcomes)."""

    DROPPED = "dropped"
    CUT = "cut"
    UNKNOWN = "unknown"


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that is written inside a message, or is one."""


class Cells(Part, frozen=True):
    """A terminal's size in character cells."""

    columns: Side
    rows: Side

    def to_size(self) -> Size:
        """Return the size as everything but the wire holds it."""
        return Size(self.columns, self.rows)


class Operator(Part, frozen=True):
    """One attachment of one operator. Its name is for people, never identity."""

    actor: Actor
    kind: ActorKind
    name: Name
    client: Client


class Receipt(Part, frozen=True):
    """The logbook's head at the entry acknowledged, signed by the host."""

    head: Digest
    signature: Signature


# ── the link itself ───────────────────────────────────────────────────────────


class Hello(Part, frozen=True):
    """The first message of the side that dials: its versions, and what it is."""

    versions: Annotated[tuple[Version, ...], Meta(min_length=1, max_length=MAX_OFFERED)]
    product: Name
    client: Word


class Welcome(Part, frozen=True):
    """The answer: the version that is spoken from here on."""

    version: Version
    product: Name


class Challenge(Part, frozen=True):
    """Say who you are, and prove it with this."""

    nonce: Digest


class Identify(Part, frozen=True):
    """I am this operator, and this proves it (crypto.proof)."""

    actor: Actor
    proof: Digest


class Ping(Part, frozen=True):
    """Are you there? Any number."""

    number: Number


class Pong(Part, frozen=True):
    """I am. The number of the PING."""

    number: Number


class Goodbye(Part, frozen=True):
    """The last message of a side that hangs up, and why."""

    code: Word
    text: Text


# ── watching ──────────────────────────────────────────────────────────────────


class Attach(Part, frozen=True, kw_only=True):
    """Let me watch, or watch and act. Continue after byte `after`, if any.

    `incarnation` is the life in which that byte was seen; in another one the
    offset means nothing, and the stream is shown anew.
    """

    session: Session
    client: Client
    mode: Mode
    size: Cells | None
    incarnation: Life | None
    after: Number | None
    keyframe: bool


class Attached(Part, frozen=True, kw_only=True):
    """You are attached; this is how things stand."""

    session: Session
    name: Name
    incarnation: Life
    epoch: TurnEpoch
    holder: ActorOrNobody
    start: Number
    end: Number
    state: Word
    size: Cells
    operators: Annotated[tuple[Operator, ...], Meta(max_length=MAX_OPERATORS)]


class Detach(Part, frozen=True):
    """I leave; the session does not notice."""


class Output(Part, frozen=True):
    """What the terminal printed, from byte `offset` of the stream on.

    The one message that is not msgpack: 8 bytes of offset, then the bytes.
    """

    offset: Number
    data: Annotated[
        bytes, Meta(min_length=1, max_length=MAX_OUTPUT, extra_json_schema=RAW)
    ]


class Gap(Part, frozen=True):
    """The bytes from `start` up to `end` are gone; the stream goes on at `end`."""

    start: Number
    end: Number


class Keyframe(Part, frozen=True, kw_only=True):
    """Bytes that paint the screen as it was at `offset`; `more` of them follow."""

    offset: Number
    size: Cells
    more: bool
    data: Annotated[bytes, Meta(max_length=MAX_KEYFRAME_PART, extra_json_schema=RAW)]


class Resized(Part, frozen=True):
    """The session has another size from byte `offset` on."""

    offset: Number
    size: Cells


# ── acting ────────────────────────────────────────────────────────────────────


class Submit(Part, frozen=True, kw_only=True):
    """An input. Who sends it is known from the link, and not said here."""

    client: Client
    sequence: Positive
    kind: InputKind
    incarnation: Life
    epoch: TurnEpoch
    payload: Annotated[bytes, Meta(max_length=MAX_INPUT, extra_json_schema=RAW)]
    seen: Number | None
    waits: bool

    def to_input(self, actor: ActorId) -> Input:
        """Return the input that `actor` submits by this message."""
        return Input(
            InputId(self.client, self.sequence),
            actor,
            self.kind,
            self.incarnation,
            self.epoch,
            self.payload,
            self.seen,
            self.waits,
        )


class Acknowledge(Part, frozen=True):
    """The terminal took every byte of the input, logged at `index`."""

    client: Client
    sequence: Positive
    index: LogIndex
    receipt: Receipt | None


class Refuse(Part, frozen=True, kw_only=True):
    """A message of kind `refused` was not obeyed, and nothing was done.

    If its code is an Unsettled one, it may have been done before. If it was about
    an input, `client` and `sequence` say which; else they are empty and 0.
    """

    refused: Annotated[int, Meta(ge=0, le=255)]
    client: ClientOrNobody
    sequence: Number
    code: Word
    text: Text
    facts: Facts
    retryable: bool
    next_step: Text


class Report(Part, frozen=True):
    """An accepted input ended otherwise than applied; `written` bytes went in."""

    client: Client
    sequence: Positive
    outcome: Ending
    index: LogIndex
    written: Annotated[int, Meta(ge=0, le=MAX_INPUT)]


class Inquire(Part, frozen=True):
    """What became of this input? ACKNOWLEDGE, REFUSE or REPORT answers."""

    client: Client
    sequence: Positive


# ── the turn ──────────────────────────────────────────────────────────────────


class Take(Part, frozen=True):
    """Give me the turn, which is free."""


class Ask(Part, frozen=True):
    """Ask the operator who has the turn for it, and wait at most so long."""

    timeout_ms: Annotated[int, Meta(ge=1, le=MAX_ASK_MS)]


class Answer(Part, frozen=True):
    """I have the turn, and `asker` gets it or does not."""

    asker: Actor
    granted: bool


class Give(Part, frozen=True):
    """I have the turn, and `to` gets it."""

    to: Actor


class Drop(Part, frozen=True):
    """I have the turn, and want it no more."""


class Seize(Part, frozen=True):
    """Give me the turn, even if another operator has it."""

    halt: Halt


class TurnPassed(Part, frozen=True, kw_only=True):
    """The turn went from `former` to `holder`, and what was thrown away for it."""

    former: ActorOrNobody
    holder: ActorOrNobody
    epoch: TurnEpoch
    reason: Word
    dropped_inputs: Number
    dropped_bytes: Number


class TurnAsked(Part, frozen=True):
    """`asker` wants the turn, and waits this much longer for it."""

    asker: Actor
    wait_ms: Annotated[int, Meta(ge=0, le=MAX_ASK_MS)]


# ── the gate ──────────────────────────────────────────────────────────────────


class Staged(Part, frozen=True):
    """Something that was put there in this session, and by whom.

    `command` is the number of the command that did it, 0 if it was none; without
    `sure` another operator may have done it.
    """

    what: Word
    name: Annotated[str, Meta(max_length=MAX_THING)]
    by: Annotated[tuple[Actor, ...], Meta(max_length=MAX_HANDS)]
    command: Number
    sure: bool


class Preview(Part, frozen=True, kw_only=True):
    """What an input did in a branch; numbers of things, and a text that tells them.

    If it was not `ran`, the text says why, and nothing else counts.
    """

    ran: bool
    ended: bool
    exit: Annotated[int, Meta(ge=0, le=255)] | None
    duration_ms: Number
    files: Number
    processes: Number
    ports: Number
    tried: Number
    text: Annotated[str, Meta(max_length=MAX_PREVIEW)]
    digest: Digest


class Pending(Part, frozen=True, kw_only=True):
    """An input of `actor` waits for approval; `excerpt` is how it begins.

    `runs` is what a line comes to as things are now, and `uses` what others or
    its actor staged of that; `preview` is what it did where it was tried out.
    Or an exec of its processes: then `program` says what is to be executed.
    """

    ticket: Number
    actor: Actor
    kind: InputKind
    epoch: TurnEpoch
    digest: Digest
    size: Annotated[int, Meta(ge=0, le=MAX_INPUT)]
    excerpt: Annotated[bytes, Meta(max_length=MAX_EXCERPT, extra_json_schema=RAW)]
    rule: Text
    program: Text
    runs: Annotated[str, Meta(max_length=MAX_RUNS)]
    uses: Annotated[tuple[Staged, ...], Meta(max_length=MAX_USED)]
    preview: Preview | None


class Approve(Part, frozen=True):
    """Let the input through that waits under `ticket`, this epoch and digest."""

    ticket: Number
    epoch: TurnEpoch
    digest: Digest


class Deny(Part, frozen=True):
    """Refuse the input that waits under `ticket` and has this digest."""

    ticket: Number
    digest: Digest


class Settled(Part, frozen=True):
    """Nothing waits under `ticket` any more; nobody means time or the turn."""

    ticket: Number
    verdict: Verdict
    by: ActorOrNobody


# ── life and death ────────────────────────────────────────────────────────────


class Freeze(Part, frozen=True):
    """Stop every process of the session where it stands."""


class Thaw(Part, frozen=True):
    """Let the session's processes run again."""


class End(Part, frozen=True):
    """End the session with this signal, and what has left its shell too."""

    signal: Annotated[int, Meta(ge=1, le=MAX_SIGNAL)]
    leave: bool
    """Whether to leave running what has left its shell."""


class State(Part, frozen=True):
    """What the session does now, by a word of docs/spec/wire.md."""

    state: Word
    incarnation: Life


class Exited(Part, frozen=True):
    """The leader's exit status; below zero, the signal that ended it."""

    status: Annotated[int, Meta(ge=-MAX_SIGNAL, le=255)]


class Event(Part, frozen=True):
    """Something happened to a session (model.events)."""

    name: Word
    session: Session
    fields: Facts


def fitting(text: str, limit: int) -> str:
    """Return `text` as it can be written on the wire: at most `limit` long.

    Half a surrogate pair, which Linux file names and arguments can turn into,
    has no UTF-8 form and is written as an escape.
    """
    return text.encode("utf-8", "backslashreplace").decode()[:limit]


def sent_facts(error: HoldfastError, longest: int = MAX_TEXT) -> dict[str, Fact]:
    """Return the facts of an error as they can be written on the wire.

    Whatever the error holds can be sent: what is too long or too large is cut.
    """
    return {
        name: fitting(fact, longest)
        if isinstance(fact, str)
        else int(max(-MAX_NUMBER, min(MAX_NUMBER, fact)))
        for name, fact in sorted(error.facts.items())[:MAX_FACTS]
    }
