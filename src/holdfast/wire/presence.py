"""Wire form of presence: attached operators, their rights, and what comes with a turn.

Specified in docs/spec/wire.md, sections 4.5 and 4.10.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.model.actors import ActorKind
from holdfast.wire import messages
from holdfast.wire.graphs import Process

MAX_STAGERS: Final = 16
"""Operators named as those who typed an unfinished line."""

MAX_CHANGED: Final = 32
"""Things shown that others changed; `blame` and the logbook have them all."""

MAX_JOBS: Final = 64
"""Processes shown to an operator who takes over; the graph has them all."""

MAX_WAITING: Final = 32
"""Operators that can wait for one turn (core.input.turn)."""

MAX_PENDING: Final = 5
"""Inputs and execs shown that wait for approval: what one message has room for."""

MAX_RIGHTS: Final = 32
"""Words in an envelope: more than there are rights."""


class Inherited(messages.Part, frozen=True):
    """You have the turn now: this is what you take over with it.

    `staged` was typed and not entered yet, by the operators named; `jobs` run;
    `changed` is what others changed of the shell since you had the turn last.
    """

    epoch: messages.TurnEpoch
    staged: Annotated[
        bytes, Meta(max_length=messages.MAX_EXCERPT, extra_json_schema=messages.RAW)
    ]
    by: Annotated[tuple[messages.Actor, ...], Meta(max_length=MAX_STAGERS)]
    jobs: Annotated[tuple[Process, ...], Meta(max_length=MAX_JOBS)]
    changed: Annotated[tuple[messages.Staged, ...], Meta(max_length=MAX_CHANGED)]


class Present(messages.Part, frozen=True, kw_only=True):
    """One attachment: whose, by what sort of program, and for how long."""

    actor: messages.Actor
    kind: ActorKind
    name: messages.Name
    client: messages.Client
    program: messages.Word
    mode: messages.Mode
    for_ms: messages.Number


class Who(messages.Part, frozen=True):
    """Asks who is attached, who has the turn, and what is pending."""


class Presence(messages.Part, frozen=True, kw_only=True):
    """Who is here, and how things stand between them."""

    present: Annotated[tuple[Present, ...], Meta(max_length=messages.MAX_OPERATORS)]
    holder: messages.ActorOrNobody
    epoch: messages.TurnEpoch
    waiting: Annotated[tuple[messages.Actor, ...], Meta(max_length=MAX_WAITING)]
    frozen: bool
    pending: Annotated[tuple[messages.Pending, ...], Meta(max_length=MAX_PENDING)]
    rights: Annotated[tuple[messages.Word, ...], Meta(max_length=MAX_RIGHTS)]


class Grant(messages.Part, frozen=True):
    """Let `actor` do this here, for so long; 0 means until it is revoked."""

    actor: messages.Actor
    rights: Annotated[tuple[messages.Word, ...], Meta(max_length=MAX_RIGHTS)]
    for_ms: messages.Number


class Revoke(messages.Part, frozen=True):
    """Let `actor` do nothing here any more."""

    actor: messages.Actor


class DetachClient(messages.Part, frozen=True):
    """Have a client leave; it may come back."""

    client: messages.Client
