"""The messages between a relay and its peers.

Theory of operation
-------------------
Each message is one binary WebSocket message: a msgpack map that says under
`is` which message it is, followed by its fields in the order in which they are
declared. As in `codec`, what is read is written again and compared, so that
there is one way to write each message (threat T65). After JOINED, a link carries
what the two ends say to each other, and none of these.

The side that dials proves a key by signing a statement: its role, the relay's name as
it was dialled, the nonce of this very link, and what it asks for. So a
signature is of no use on another link, at another relay or for another wish.

I1  decode(encode(m)) is m, and encode(decode(b)) is b.
I2  Whatever the bytes, decode returns a message or raises a PeerError.
I3  Two statements are the same bytes only if they are the same statement.

Specified in docs/spec/relay.md.
"""

import enum
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.model.errors import HoldfastError, from_facts
from holdfast.model.ids import HostId, Incarnation
from holdfast.wire import first_relay_messages, messages
from holdfast.wire.canonical_form import CanonicalForm

VERSION: Final = 1
"""Of this protocol. A relay names its own in GREET; there is no negotiation."""

MAX_MESSAGE: Final = 65_535
"""Bytes of one message on any link: what a sealed channel puts into one."""

MAX_UNPROVEN: Final = 1024
"""Bytes of a message from a peer that has not identified itself."""

NONCE: Final = 32
"""Random bytes that make a signature good for one link."""

KEY: Final = 32
"""Bytes of an Ed25519 public key."""

TICKET: Final = 16
"""Random bytes of a ticket: nobody guesses one within its seconds."""

MAX_INVITE: Final = 32
"""Bytes of the longest id of an invitation."""

MAX_PART: Final = 800
"""Ids in one message: its bytes stay under MAX_MESSAGE. More come in parts."""

MAX_HEIRS: Final = 16
"""Hosts that one session can be entrusted to."""

MAX_ADDRESS: Final = 255
"""Bytes of a relay's name with its port: the longest name DNS has, and less."""

_END: Final = r"$(?!\n)"
_HOST: Final = "^h_[a-z2-7]{32}" + _END
_TARGET: Final = f"{_HOST}|^s_[a-z2-7]{{16}}{_END}"

Host = Annotated[HostId, Meta(pattern=_HOST, max_length=34)]
Target = Annotated[str, Meta(pattern=_TARGET, max_length=34)]
Nonce = Annotated[bytes, Meta(min_length=NONCE, max_length=NONCE)]
Key = Annotated[bytes, Meta(min_length=KEY, max_length=KEY)]
Ticket = Annotated[bytes, Meta(min_length=TICKET, max_length=TICKET)]
Invite = Annotated[bytes, Meta(min_length=1, max_length=MAX_INVITE)]
InviteOrNone = Annotated[bytes, Meta(max_length=MAX_INVITE)]
Seen = Annotated[Incarnation, Meta(ge=0, le=messages.MAX_NUMBER)]
Actors = Annotated[tuple[messages.Actor, ...], Meta(max_length=MAX_PART)]
Invites = Annotated[tuple[Invite, ...], Meta(max_length=MAX_PART)]
Sessions = Annotated[tuple[messages.Session, ...], Meta(max_length=MAX_PART)]
Heirs = Annotated[tuple[Host, ...], Meta(max_length=MAX_HEIRS)]


class Role(enum.StrEnum):
    """The role of a peer that dials; part of what is signed."""

    HOST = "host"
    MEET = "meet"
    OPERATOR = "operator"


class Said(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    tag_field="is",
    tag=str.lower,
):
    """What every message of this protocol is."""


# ── before identities are proven ──────────────────────────────────────────────


class Greet(Said, frozen=True):
    """The relay's first word on every link: sign this."""

    version: Annotated[int, Meta(ge=0, le=65_535)]
    nonce: Nonce


class Register(Said, frozen=True):
    """A host: I am the one with this key, and will answer for it."""

    key: Key
    signature: messages.Signature


class Meet(Said, frozen=True):
    """A host: I come for this knock."""

    key: Key
    ticket: Ticket
    signature: messages.Signature


class Reach(Said, frozen=True):
    """An operator: join me with this host, or with the host of this session.

    With an invitation, its id stands in for being known to the host.
    """

    key: Key
    target: Target
    invite: InviteOrNone
    signature: messages.Signature


# ── the relay's answers ───────────────────────────────────────────────────────


class Registered(Said, frozen=True):
    """You are the host of this id from now on."""

    host: Host


class Joined(Said, frozen=True):
    """From the next message on, you speak with the other end: this host's."""

    host: Host


class Refused(Said, frozen=True):
    """No, and why. The relay hangs up after it, unless it is about a lease."""

    code: messages.Word
    text: messages.Text
    facts: messages.Facts


# ── on the link of a host ─────────────────────────────────────────────────────


class Admit(Said, frozen=True):
    """Send me these actors, and who comes with these invitations.

    `resets` says that nobody else is admitted any more; without it, they are
    added to those who are.
    """

    resets: bool
    actors: Actors
    invites: Invites


class Dismiss(Said, frozen=True):
    """Do not send me these any more."""

    actors: Actors
    invites: Invites


class Publish(Said, frozen=True):
    """These sessions are with me; those no longer."""

    resets: bool
    added: Sessions
    removed: Sessions


class Knock(Said, frozen=True):
    """An operator wants to reach you: dial, and present this ticket."""

    ticket: Ticket
    actor: messages.Actor
    target: Target
    invite: InviteOrNone


class Leaving(Said, frozen=True):
    """The relay is being stopped: no knock will come any more."""


# ── leases, see docs/spec/leases.md ───────────────────────────────────────────


class LeaseAsk(Said, frozen=True, tag="lease-ask"):
    """Let me speak for this session.

    `life` is the incarnation to renew, or 0 to claim the next one.
    """

    ask: messages.Number
    session: messages.Session
    life: Seen
    seen: Seen
    speaking: bool


class LeaseGrant(Said, frozen=True, tag="lease-grant"):
    """You may, as this incarnation, for so long from when you asked."""

    ask: messages.Number
    life: messages.Life
    ttl_ms: messages.Number


class LeaseRefuse(Said, frozen=True, tag="lease-refuse"):
    """You may not, and why."""

    ask: messages.Number
    code: messages.Word
    text: messages.Text
    facts: messages.Facts


class LeaseRelease(Said, frozen=True, tag="lease-release"):
    """I have fenced it, and let go."""

    session: messages.Session
    life: messages.Life


class LeaseEnd(Said, frozen=True, tag="lease-end"):
    """The session is over for good."""

    session: messages.Session
    life: messages.Life


class Entrust(Said, frozen=True):
    """These hosts, and no others but me, may claim the session after me."""

    session: messages.Session
    hosts: Heirs


Proof = Register | Meet | Reach
HostSaid = Admit | Dismiss | Publish | LeaseAsk | LeaseRelease | LeaseEnd | Entrust
RelaySaid = (
    Greet | Registered | Joined | Refused | Knock | Leaving | LeaseGrant | LeaseRefuse
)
RelayMessage = Proof | HostSaid | RelaySaid

_spelling: CanonicalForm[RelayMessage] = CanonicalForm(
    "relay message", msgspec.msgpack.Decoder(RelayMessage), MAX_MESSAGE
)
encode, decode = _spelling.encode, _spelling.decode
"""Write a message down, and read one: see CanonicalForm."""


def statement(role: Role, relay: str, nonce: bytes, *wishes: bytes) -> bytes:
    """Return the bytes that a peer signs to prove its key on one link.

    `relay` is the name as dialled: the host, and the port unless it is the
    scheme's own. `wishes` are what the message asks for, in the order of its
    fields.
    """
    return first_relay_messages.statement(role.value, relay, nonce, *wishes)


def stated(proof: Proof, relay: str, nonce: bytes) -> bytes:
    """Return what the signature of a proof must be over."""
    match proof:
        case Register():
            return statement(Role.HOST, relay, nonce)
        case Meet():
            return statement(Role.MEET, relay, nonce, proof.ticket)
        case Reach():
            wishes = (proof.target.encode(), proof.invite)
            return statement(Role.OPERATOR, relay, nonce, *wishes)


def refusal(error: HoldfastError) -> Refused:
    """Return the message that tells a peer of an error."""
    return Refused(
        error.code,
        messages.fitting(str(error), messages.MAX_TEXT),
        messages.sent_facts(error),
    )


def lease_refusal(ask: int, error: HoldfastError) -> LeaseRefuse:
    """Return the message that answers a question about a lease with a no."""
    refused = refusal(error)
    return LeaseRefuse(ask, refused.code, refused.text, refused.facts)


def error_from(refused: Refused | LeaseRefuse) -> HoldfastError:
    """Return the error that a relay told us of."""
    return from_facts(refused.code, refused.facts, refused.text)
