"""Receipts that a host gave, and whether it signed them."""

from holdfast.core.book.logbook import CheckSignature, Head, Receipt
from holdfast.crypto.keys import verify
from holdfast.model.ids import Incarnation, SessionId
from holdfast.wire import messages as wire


def signature_check(public: bytes) -> CheckSignature:
    """Return the check of receipts against one host's key."""

    def is_signed_by_host(message: bytes, signature: bytes) -> bool:
        return verify(public, message, signature)

    return is_signed_by_host


def receipt_in(
    acknowledge: wire.Acknowledge, session: SessionId, incarnation: Incarnation
) -> Receipt | None:
    """Return the receipt that came with an acknowledgement, if one did.

    The message names neither session nor life: it came from the one that we are
    attached to.
    """
    said = acknowledge.receipt
    if said is None:
        return None
    head = Head(session, acknowledge.index, said.head)
    return Receipt(head, incarnation, said.signature)
