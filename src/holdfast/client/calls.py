"""Requests to a session, one call each, for blocking programs.

A holder that dies meanwhile has a successor, which is asked the same again. To ask for
any of this twice does no more than once; at worst the second is refused because the
first was done.
"""

import os
import time
from collections.abc import Callable

from holdfast.client.driver import (
    actor_in,
    ask,
    ask_attached,
    attachment_to,
    converse,
)
from holdfast.core.client import questions, timeouts
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.questions import NO_CLIENT, Done
from holdfast.model.ids import ENTROPY, ActorId, ClientId, client_id
from holdfast.model.inputs import InputKind
from holdfast.wire.blame import BlameReport
from holdfast.wire.checkpoints import Checkpointed
from holdfast.wire.codec import Message
from holdfast.wire.commands import CommandReport
from holdfast.wire.evidence import Evidence
from holdfast.wire.graphs import Graph
from holdfast.wire.messages import Pending
from holdfast.wire.preflights import Preflight
from holdfast.wire.presence import Presence
from holdfast.wire.trials import Tried

Held = Callable[[Pending], None]
"""Called when one of our inputs starts to wait for approval."""


def state(session: str) -> Evidence:
    """Return what a session does now, and how that is known."""
    return ask(session, questions.state())


def graph(session: str, *, descriptors: bool = False) -> Graph:
    """Return what runs in a session now, and what listens where."""
    return ask(session, questions.graph(descriptors=descriptors))


def preflight(session: str) -> Preflight:
    """Return what keeps a session from being checkpointed now."""
    return ask(session, questions.preflight())


def checkpoint(
    session: str, *, stop: bool, label: str, branch: bool = False
) -> Checkpointed:
    """Write a session to disk; with `branch`, for a branch of it alone.

    Raises:
        UsageError: Something is in the way.
        Forbidden: We may not.
        Unavailable: CRIU or the disk refused; the session goes on.

    """
    key = client_id(os.urandom(ENTROPY))  # One image, however often it is asked.
    wanted = questions.checkpoint(stop=stop, label=label, key=key, branch=branch)
    return ask(session, wanted)


def blame(session: str, what: str, name: str = "", at_ms: int = 0) -> BlameReport:
    """Return who is behind something, as the session's holder knows it.

    Raises:
        UsageError: Its shell tells nothing, or the name is too long.

    """
    return ask(session, questions.blame(what, name, at_ms))


def report(session: str, client: ClientId = NO_CLIENT) -> CommandReport:
    """Return where the shell is, and the command that `client` sent, or the last."""
    return ask(session, questions.reports(client))[0]


def presence(session: str) -> Presence:
    """Return who is attached, who has the turn and who waits for what."""
    return request(session).presence


def request(session: str, *asked: Message) -> Done:
    """Send requests, one after the other; return the state after them."""
    return ask(session, questions.request(actor_in(session), *asked))


def act(session: str, asked: Message) -> Done:
    """Send a request about the turn; return the state after it."""
    return ask_attached(session, questions.request(actor_in(session), asked))


def wait_turn(session: str, seconds: float) -> Done:
    """Ask for the turn, and wait until it is ours, at most so long."""
    from holdfast.core.client.turn_wait import TurnWait  # noqa: PLC0415  # rare

    return converse(
        session, TurnWait(attachment_to(session), seconds, time.monotonic())
    )


def try_input(
    session: str,
    actor: ActorId,
    kind: InputKind,
    payload: bytes,
    candidate: bytes | None = None,
) -> Tried:
    """Return what would happen to an input of `actor` now; nothing is done.

    With a candidate, what would happen if that policy were in force.

    Raises:
        Forbidden: We may not grant, and so not try out policies.

    """
    return ask(session, questions.trial(actor, kind, payload, candidate))


def submit(
    attachment: Attachment,
    kind: InputKind,
    payload: bytes,
    timeout: float,
    approval: float = timeouts.APPROVAL,
) -> int | None:
    """Make inputs of `payload`, and return when the terminal has taken them all.

    What is returned is the stream's end just before: everything they cause is
    printed from there on. None: there was nothing to send. What nobody approves
    within `approval` seconds is taken back.

    Raises:
        HoldfastError: One was refused, and why; later ones were not sent.
        Unsettled: There is no answer to one.

    """
    from holdfast.core.client.submission import Submission  # noqa: PLC0415  # rare

    if not payload:
        return None
    made = Submission(attachment, kind, payload, timeout, approval)
    return converse(attachment.session, made)
