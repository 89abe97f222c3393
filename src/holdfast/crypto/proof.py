"""The proof that a local client is the operator it claims to be.

Programs of one user share that user's files, so on a local socket it is enough
to know what is in the operator's folder: a token that client and holder can both
read and nobody else. The holder says a nonce, the client answers with a code
over nonce and session, so an answer is good for one link to one session and the
token itself is never sent.

This keeps apart operators that are honest about who they are. It does not keep
apart programs of the same user: those can read each other's tokens.
"""

import hmac

from holdfast.wire.creation import change_bytes, proven_bytes, recovery_bytes

TYPE_CHECKING = False
"""Only checkers take it for true: `holdfast new` waits for this to load."""

if TYPE_CHECKING:
    from holdfast.model.session_requests import Creation, ProvenChange, Recover

_CREATION = b"holdfast create 1\n"
_CHANGE = b"holdfast change 1\n"
_HOST = b"holdfast host token 1\n"


def creation_proof(token: bytes, request: bytes) -> bytes:
    """Return the proof that a holder of `token` asks for this session."""
    return hmac.digest(token, _CREATION + request, "sha256")


def is_creation_proof(token: bytes, request: bytes, proof: bytes) -> bool:
    """Tell whether `proof` was made with `token`, in a time that tells nothing."""
    return hmac.compare_digest(creation_proof(token, request), proof)


def change_proof(token: bytes, request: bytes) -> bytes:
    """Return the proof that a holder of `token` asks for this change."""
    return hmac.digest(token, _CHANGE + request, "sha256")


def is_change_proof(token: bytes, request: bytes, proof: bytes) -> bool:
    """Tell whether `proof` was made with `token`, in a time that tells nothing."""
    return hmac.compare_digest(change_proof(token, request), proof)


def proven_creation(asked: "Creation", token: bytes) -> "Creation":
    """Return a request for a session with its creator's proof."""
    from holdfast.model.session_requests import packet_of  # noqa: PLC0415  # slow to load

    proof = creation_proof(token, proven_bytes(packet_of(asked)))
    return asked._replace(proof=proof.hex())


def proven_recovery(asked: "Recover", token: bytes) -> "Recover":
    """Return a request for the next life of a session with its asker's proof."""
    from holdfast.model.session_requests import packet_of  # noqa: PLC0415  # slow to load

    proof = creation_proof(token, recovery_bytes(packet_of(asked)))
    return asked._replace(proof=proof.hex())


def proven_change(asked: "ProvenChange", token: bytes) -> "ProvenChange":
    """Return a request about a session with its asker's proof."""
    from holdfast.model.session_requests import packet_of  # noqa: PLC0415  # slow to load

    proof = change_proof(token, change_bytes(packet_of(asked)))
    return asked._replace(proof=proof.hex())


def host_token(seed: bytes) -> bytes:
    """Return what a host proves its own requests with, which its key has made."""
    return hmac.digest(seed, _HOST, "sha256")
