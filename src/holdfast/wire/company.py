"""Wire form of who is attached, what they may do, and what they inherit.

Specified in docs/spec/wire.md, sections 4.5 and 4.10.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.model.actors import ActorKind
from holdfast.wire.graphs import Process
from holdfast.wire.messages import (
    MAX_EXCERPT,
    MAX_OPERATORS,
    RAW,
    Actor,
    ActorOrNobody,
    Client,
    Mode,
    Name,
    Number,
    Part,
    Pending,
    Staged,
    TurnEpoch,
    Word,
)

MAX_STAGERS: Final = 16
"""Operators named as those who typed an unfinished line."""

MAX_CHANGED: Final = 32
"""Things shown that others changed; `blame` and the logbook have them all."""

MAX_JOBS: Final = 64
"""Processes shown to an operator who takes over; the graph has them all."""

MAX_WAITING: Final = 32
"""Operators that can wait for one turn (core.input.turn)."""

MAX_PENDING: Final = 8
"""Inputs and execs shown that wait for approval: what one message has room for."""

MAX_RIGHTS: Final = 32
"""Words in an envelope: more than there are rights."""


class Inherited(Part, frozen=True):
    """You have the turn now: this is what you take over with it.

    `staged` was typed and not entered yet, by the operators named; `jobs` run;
    `changed` is what others changed of the shell since you had the turn last.
    """

    epoch: TurnEpoch
    staged: Annotated[bytes, Meta(max_length=MAX_EXCERPT, extra_json_schema=RAW)]
    by: Annotated[tuple[Actor, ...], Meta(max_length=MAX_STAGERS)]
    jobs: Annotated[tuple[Process, ...], Meta(max_length=MAX_JOBS)]
    changed: Annotated[tuple[Staged, ...], Meta(max_length=MAX_CHANGED)]


class Present(Part, frozen=True, kw_only=True):
    """One attachment: whose, by what sort of program, and for how long."""

    actor: Actor
    kind: ActorKind
    name: Name
    client: Client
    program: Word
    mode: Mode
    for_ms: Number


class Who(Part, frozen=True):
    """Who is here, who has the turn, and who waits for what?"""


class Presence(Part, frozen=True, kw_only=True):
    """Who is here, and how things stand between them."""

    present: Annotated[tuple[Present, ...], Meta(max_length=MAX_OPERATORS)]
    holder: ActorOrNobody
    epoch: TurnEpoch
    waiting: Annotated[tuple[Actor, ...], Meta(max_length=MAX_WAITING)]
    frozen: bool
    pending: Annotated[tuple[Pending, ...], Meta(max_length=MAX_PENDING)]
    rights: Annotated[tuple[Word, ...], Meta(max_length=MAX_RIGHTS)]


class Grant(Part, frozen=True):
    """Let `actor` do this here, for so long; 0 means until it is revoked."""

    actor: Actor
    rights: Annotated[tuple[Word, ...], Meta(max_length=MAX_RIGHTS)]
    for_ms: Number


class Revoke(Part, frozen=True):
    """Let `actor` do nothing here any more."""

    actor: Actor


class DetachClient(Part, frozen=True):
    """Have a client leave; it may come back."""

    client: Client
