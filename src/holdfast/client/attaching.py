"""From a session's id to a link on which its stream comes, and to inputs answered.

For programs that do one thing and wait for it. A holder that dies meanwhile is
waited for: its successor knows the ids of the inputs that were sent before.
"""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator

from holdfast.client import dialing
from holdfast.client.acting import our_pen
from holdfast.client.attachment import APPROVAL_PATIENCE, Attachment
from holdfast.client.connection import PATIENCE, Connection
from holdfast.client.patience import Patience
from holdfast.client.signing import Pen
from holdfast.model.errors import (
    ApprovalPending,
    HoldfastError,
    OutcomeUnknown,
    SessionUnreachable,
    UnexpectedMessage,
)
from holdfast.model.ids import ENTROPY, SessionId, client_id
from holdfast.model.inputs import MAX_INPUT, InputKind
from holdfast.wire.codec import Message, error_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Attached,
    Cells,
    Event,
    Inquire,
    Mode,
    Pending,
    Refuse,
    Settled,
    State,
    TurnAsked,
    TurnPassed,
)

RETRY = 0.1
"""Seconds until an input is sent again for which there was no room."""

LAST_ANSWERS = 0.2
"""Seconds for the answers to keys that were typed just before leaving: a program that
reads takes no longer, and nobody waits for one that does not."""

SIGNING_PATIENCE = 1.0
"""Seconds for the holder to say that it has what we signed, before we leave."""


def attachment_to(session: str, mode: Mode = Mode.OPERATE) -> Attachment:
    """Return a view of a session by a client that did not exist before."""
    return Attachment(SessionId(session), client_id(os.urandom(ENTROPY)), mode)


def attach(
    attachment: Attachment,
    size: Cells | None = None,
    *,
    keyframe: bool = False,
    patience: float = PATIENCE,
) -> tuple[Connection, Attached]:
    """Open a link, attach on it and send again what has no answer yet.

    Raises:
        Unavailable: The holder did not answer within `patience` seconds.
        HoldfastError: It refused, and why.

    """
    link = Connection.open(attachment.session, patience=patience)
    try:
        attached = attach_on(
            link, attachment, size, keyframe=keyframe, patience=patience
        )
    except BaseException:
        link.close()
        raise
    return link, attached


def attach_on(
    link: Connection,
    attachment: Attachment,
    size: Cells | None = None,
    *,
    keyframe: bool = False,
    patience: float = PATIENCE,
) -> Attached:
    """Attach on a link that is open, and send again what has no answer yet.

    Raises:
        Unavailable: The holder did not answer within `patience` seconds.
        HoldfastError: It refused, and why.

    """
    link.send(attachment.attach(size, keyframe=keyframe))
    attached = _attached(attachment, link, time.monotonic() + patience)
    for submit in attachment.open:
        link.send(submit)
    if (said := attachment.signing.again()) is not None:
        link.send(said)
    return attached


def messages(link: Connection, deadline: float | None) -> Iterator[Message]:
    """Return what comes, one by one, until `deadline`.

    Raises:
        Unavailable: The holder is gone.

    """
    while True:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return
        message = link.receive(left)
        if message is None:
            return
        yield message


def sign_off(link: Connection, attachment: Attachment, pen: Pen | None) -> None:
    """Sign what we have sent and not signed, before we leave.

    What fails here is no error: it is on record that it is not signed.
    """
    signing = attachment.signing
    with contextlib.suppress(HoldfastError):
        if attachment.open:
            _await_answers(link, attachment)
        patience = dialing.patience_for(attachment.session, SIGNING_PATIENCE)
        deadline = time.monotonic() + patience
        while not signing.is_done:
            if (said := signing.sign(pen)) is not None:
                link.send(said)
            if not _is_answered(link, attachment, deadline) or signing.is_put_off:
                return


def _await_answers(link: Connection, attachment: Attachment) -> None:
    """Wait a moment for what was sent last: only what is in the book is signed."""
    last = attachment.open[-1]
    link.send(Inquire(last.client, last.sequence))  # It need not wait for another key.
    patience = dialing.patience_for(attachment.session, LAST_ANSWERS)
    for message in messages(link, time.monotonic() + patience):
        attachment.heard(message)
        attachment.answered(message)
        if not attachment.open:
            return


def _is_answered(link: Connection, attachment: Attachment, deadline: float) -> bool:
    for message in messages(link, deadline):
        attachment.heard(message)
        attachment.answered(message)
        if not attachment.signing.is_awaited:
            return True
    return False


def submit(
    attachment: Attachment,
    kind: InputKind,
    payload: bytes,
    timeout: float,
    approval: float = APPROVAL_PATIENCE,
) -> int | None:
    """Make inputs of `payload`, and return when the terminal has taken them all.

    What is returned is the stream's end just before: everything they cause is
    printed from there on. None: there was nothing to send. What nobody approves
    within `approval` seconds is taken back.

    Raises:
        HoldfastError: One was refused, and why; later ones were not sent.
        Unsettled: There is no answer to one.

    """
    begun_at = None
    for start in range(0, len(payload), MAX_INPUT):
        piece = payload[start : start + MAX_INPUT]
        patience = Patience(time.monotonic() + timeout, approval)
        end = _submit_one(attachment, kind, piece, patience)
        begun_at = end if begun_at is None else begun_at
    return begun_at


def _submit_one(
    attachment: Attachment, kind: InputKind, payload: bytes, patience: Patience
) -> int:
    begun_at: int | None = None
    sequence = 0
    pen: Pen | None = None
    while True:
        link, attached = (
            attach(attachment)
            if begun_at is None
            else _attach_again(attachment, sequence, patience.deadline)
        )
        with link:
            if begun_at is None:
                begun_at = attached.end
                made = attachment.submit(kind, payload)
                sequence = made.sequence
                link.send(made)
                pen = our_pen(attachment.session)  # Loaded while the holder works.
            try:
                if _settle(attachment, link, patience):
                    return begun_at
                if attachment.pending is not None:
                    waits = attachment.pending
                    raise ApprovalPending(waits.ticket, waits.rule)
            except SessionUnreachable:
                if time.monotonic() < patience.deadline:
                    continue  # The successor is sent the same id again.
                raise OutcomeUnknown(attachment.client, sequence) from None
            finally:
                sign_off(link, attachment, pen)
            raise OutcomeUnknown(attachment.client, sequence)


def _attach_again(
    attachment: Attachment, sequence: int, deadline: float
) -> tuple[Connection, Attached]:
    """Attach to the successor of a holder that may have typed what was sent to it."""
    left = max(RETRY, min(PATIENCE, deadline - time.monotonic()))
    try:
        return attach(attachment, patience=left)
    except SessionUnreachable:
        raise OutcomeUnknown(attachment.client, sequence) from None


def _settle(attachment: Attachment, link: Connection, patience: Patience) -> bool:
    while True:
        now = time.monotonic()
        for withdrawal in patience.look(attachment, now):
            link.send(withdrawal)
        if now >= patience.deadline:
            return False
        until = min(patience.deadline, now + RETRY)
        if _answer(attachment, messages(link, until)):
            return True
        if attachment.is_stalled:
            time.sleep(RETRY)
            for again in attachment.open:
                link.send(again)


def _answer(attachment: Attachment, coming: Iterable[Message]) -> bool:
    for message in coming:
        attachment.heard(message)
        answer = attachment.answered(message)
        if answer is not None:
            _, error = answer
            if error is not None:
                raise error
            return True
        if attachment.is_stalled and isinstance(message, Refuse):
            return False
    return False


def _attached(attachment: Attachment, link: Connection, deadline: float) -> Attached:
    early: list[Message] = []
    for message in messages(link, deadline):
        match message:
            case Attached():
                attachment.heard(message)
                link.put_back(early)
                return message
            case Refuse(refused=FrameKind.ATTACH):
                raise _refusal(message)
            case Pending() | Settled() | TurnPassed() | TurnAsked() | State() | Event():
                early.append(message)  # Our coming may be what caused it.
            case _:
                raise UnexpectedMessage(type(message).__name__, "attaching")
    raise SessionUnreachable(attachment.session, "it does not let us attach")


def _refusal(refuse: Refuse) -> HoldfastError:
    return error_from(refuse)
