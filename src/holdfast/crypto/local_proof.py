"""A local client's answer to a holder's nonce; see `proof`.

Apart from the other proofs, because every attach begins with it.
"""

import hmac

from holdfast.model.ids import SessionId

TOKEN = 32
"""Bytes of a token."""

NONCE = 32
"""Bytes of a nonce: none comes twice."""

_CONTEXT = b"holdfast local 1\n"


def local_proof(token: bytes, session: SessionId, nonce: bytes) -> bytes:
    """Return what proves, on one link, that one knows `token`."""
    return hmac.digest(token, _CONTEXT + session.encode() + b"\n" + nonce, "sha256")


def is_local_proof(
    token: bytes, session: SessionId, nonce: bytes, proof: bytes
) -> bool:
    """Tell whether `proof` was made with `token`, in a time that tells nothing."""
    return hmac.compare_digest(local_proof(token, session, nonce), proof)
