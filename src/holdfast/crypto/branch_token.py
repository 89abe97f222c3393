"""Which branch of a session a program runs in, signed by the host.

A program that was forked with its session, heap and all, cannot tell by itself which of
the two it is. The token tells it: its session, that session's incarnation, and both in
one word, the *branch*, which no other tree of processes ever has. So it can be a part
of an idempotency key, and who is given it can check that this host made it.

    holdfast-branch-1.PAYLOAD.SIGNATURE

The form is that of every signed line (crypto.signed_line).

Invariants, checked by tests/crypto/test_branch_token.py:

I1  What was issued is read again; nothing else is, and reading raises only PeerError.
I2  The same branch has the same token, whichever process issues it.
"""

from typing import NamedTuple

from holdfast.crypto.keys import SigningKey
from holdfast.crypto.signed_line import read_signed_line, signed_line
from holdfast.model.errors import TokenForged

_TITLE = "holdfast-branch-1"


class Branch(NamedTuple):
    """One life of one session, and where that comes from."""

    session: str
    incarnation: int
    parent: str
    """The session that it was forked from; empty if it was started."""

    expires_ms: int = 0
    """Until when the token is good, in milliseconds since 1970; 0: without end. That of
    a movable session is good as long as the lease that it was issued under."""

    @property
    def name(self) -> str:
        """What no other life of any session is called."""
        return f"{self.session}/{self.incarnation}"


def issue(branch: Branch, key: SigningKey) -> str:
    """Return the token of a branch."""
    expiry = {"expires_ms": branch.expires_ms} if branch.expires_ms else {}
    return signed_line(
        _TITLE,
        {
            "session": branch.session,
            "incarnation": branch.incarnation,
            "branch": branch.name,
            "parent": branch.parent,
            **expiry,
        },
        key,
    )


def read(token: str, host: bytes) -> Branch:
    """Return which branch a token is of, if that host has issued it.

    Raises:
        PeerError: It has not.

    """
    match {"expires_ms": 0, **read_signed_line(_TITLE, token, host)}:
        case {
            "session": str(session),
            "incarnation": int(life),
            "parent": str(parent),
            "expires_ms": int(expires_ms),
        }:
            return Branch(session, life, parent, expires_ms)
        case _:
            raise TokenForged("it does not name a branch")
