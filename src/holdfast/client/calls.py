"""What can be asked of a session, one call each, for programs that block.

A holder that dies meanwhile has a successor, which is asked the same again. To ask for
any of this twice does no more than once; at worst the second is refused because the
first was done.
"""

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
from holdfast.model.ids import ActorId, ClientId
from holdfast.model.inputs import InputKind
from holdfast.wire.blame import BlameReport
from holdfast.wire.codec import Message
from holdfast.wire.commands import CommandReport
from holdfast.wire.company import Presence
from holdfast.wire.evidence import Evidence
from holdfast.wire.graphs import Graph
from holdfast.wire.messages import Pending
from holdfast.wire.preflights import Preflight
from holdfast.wire.trials import Tried

Held = Callable[[Pending], None]
"""Called when something of ours begins to wait for somebody's approval."""


def state(session: str) -> Evidence:
    """Return what a session does now, and how that is known."""
    return ask(session, questions.state())


def graph(session: str, *, descriptors: bool = False) -> Graph:
    """Return what runs in a session now, and what listens where."""
    return ask(session, questions.graph(descriptors=descriptors))


def preflight(session: str) -> Preflight:
    """Return what keeps a session from being checkpointed now."""
    return ask(session, questions.preflight())


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
    """Have `asked` done, one after the other; return how things stand then."""
    return ask(session, questions.request(actor_in(session), *asked))


def act(session: str, asked: Message) -> Done:
    """Have something done about the turn; return how things stand then."""
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
