"""One request to a session, and how things stand after it.

A request is not answered unless it is refused, so WHO is sent behind it: answers
come in order, and PRESENCE means that the request was done. Whatever concerns the
turn is asked while attached, because a turn is kept for whoever leaves for as
long as the grace is, and only who came can leave.

A holder that dies meanwhile has a successor, which is sent the same again. To ask
for any of this twice does no more than once; at worst the second is refused
because the first was done.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from holdfast.client import dialing
from holdfast.client.acting import ourselves
from holdfast.client.attaching import attach, attachment_to, messages
from holdfast.client.attachment import Attachment
from holdfast.client.connection import Connection
from holdfast.model.errors import SessionOver, SessionUnreachable, WaitedInVain
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import KINDS, Message, error_from
from holdfast.wire.company import Inherited, Presence, Who
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    MAX_ASK_MS,
    Ask,
    Exited,
    Refuse,
    TurnPassed,
)
from holdfast.wire.trials import Tried, Try

PATIENCE = 10.0
"""Seconds for an answer: a holder that hangs is replaced, and a large tree frozen, in
less."""

_FRAME_KINDS = {message: kind for kind, message in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Done:
    """How things stand after a request, and what came to us with the turn."""

    us: ActorId
    presence: Presence
    inherited: Inherited | None = None

    @property
    def has_turn(self) -> bool:
        """Whether the turn is ours."""
        return self.presence.holder == self.us


def presence(session: str, *, patience: float = PATIENCE) -> Presence:
    """Return who is attached, who has the turn and who waits for what.

    Raises:
        Unavailable: The session cannot be reached.

    """
    return request(session, patience=patience).presence


def request(session: str, *asked: Message, patience: float = PATIENCE) -> Done:
    """Have `asked` done, one after the other; return how things stand then.

    Raises:
        HoldfastError: One was refused, and why.
        Unavailable: The session cannot be reached, or does not answer.

    """
    return _persist(lambda deadline: _request(session, asked, deadline), patience)


def act(session: str, asked: Message) -> Done:
    """Have something done about the turn; return how things stand then.

    Raises:
        HoldfastError: It was refused, and why.
        Unavailable: The session cannot be reached, or does not answer.

    """
    return _persist(lambda deadline: _act(session, asked, deadline), PATIENCE)


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
        Unavailable: The session cannot be reached, or does not answer.

    """
    deadline = time.monotonic() + PATIENCE
    with _dial(session) as link:
        link.send(Try(actor, kind, payload, candidate))
        for message in messages(link, deadline):
            match message:
                case Tried():
                    return message
                case Refuse(refused=FrameKind.TRY):
                    raise error_from(message)
                case _:
                    pass
    raise _silent()


def wait_turn(session: str, seconds: float) -> Done:
    """Ask for the turn, and wait until it is ours, at most so long.

    Raises:
        Unavailable: It was not given, and why; or the session cannot be reached.
        HoldfastError: It was refused, and why.

    """
    attachment = attachment_to(session)
    deadline = time.monotonic() + seconds
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise WaitedInVain("the turn", round(seconds * 1000))
        try:
            done = _asked(attachment, left)
        except SessionUnreachable:
            # A successor does not know who waited: it is asked anew.
            if time.monotonic() >= deadline:
                raise
            continue
        if done.has_turn:  # Else somebody was quicker still, and it is asked anew.
            return done


def _asked(attachment: Attachment, left: float) -> Done:
    """Ask for the turn once, and return how things stood soon after it came."""
    link, _ = attach(attachment)
    with link:
        link.send(Ask(min(max(1, round(left * 1000)), MAX_ASK_MS)))
        link.send(Who())
        us = attachment.us or ourselves().actor.id
        # The holder's own clock says when it is over; ours only makes sure.
        _passed(messages(link, time.monotonic() + left + PATIENCE), us)
        link.send(Who())
        until = time.monotonic() + PATIENCE
        return _gather(messages(link, until), us, FrameKind.ASK)


def _request(session: str, asked: tuple[Message, ...], deadline: float) -> Done:
    with _dial(session) as link:
        for message in asked:
            link.send(message)
        link.send(Who())
        kinds = [_FRAME_KINDS[type(message)] for message in asked]
        us = dialing.actor_at(session, ourselves().actor.id)
        return _gather(messages(link, deadline), us, *kinds)


def _act(session: str, asked: Message, deadline: float) -> Done:
    attachment = attachment_to(session)
    link, _ = attach(attachment)
    with link:
        link.send(asked)
        link.send(Who())
        us = attachment.us or ourselves().actor.id
        return _gather(messages(link, deadline), us, _FRAME_KINDS[type(asked)])


def _persist(attempt: Callable[[float], Done], patience: float) -> Done:
    deadline = time.monotonic() + patience
    while True:
        try:
            return attempt(deadline)
        except SessionUnreachable:
            if time.monotonic() >= deadline:
                raise


def _dial(session: str) -> Connection:
    wanted = SessionId(session)
    return Connection.open(wanted)


def _gather(coming: Iterable[Message], us: ActorId, *kinds: FrameKind) -> Done:
    inherited: Inherited | None = None
    for message in coming:
        match message:
            case Presence():
                return Done(us, message, inherited)
            case Inherited():
                inherited = message
            case Refuse(refused=refused) if refused in kinds:
                raise error_from(message)
            case Exited():
                raise SessionOver("exited")
            case _:
                pass
    raise _silent()


def _passed(coming: Iterable[Message], us: ActorId) -> None:
    """Return once the turn is ours."""
    for message in coming:
        match message:
            case Presence(holder=holder) | TurnPassed(holder=holder) if holder == us:
                return
            case Refuse(refused=FrameKind.ASK):
                raise error_from(message)
            case Exited():
                raise SessionOver("exited")
            case _:
                pass
    raise _silent()


def _silent() -> WaitedInVain:
    return WaitedInVain("an answer of the session", round(PATIENCE * 1000))
