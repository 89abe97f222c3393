"""What a keeper tells a holder, over the link of its deposit: typed.

As in keeper_messages: `do` names the kind, what is unknown is ignored, what is missing
or has the wrong type has its default, since the two may be of different versions.
docs/spec/keeper.md says what each is for. Standard library only, for the keeper.
"""

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.model.session_record import Facts, sound_fields


class Forget(NamedTuple):
    """Your session's record was removed: end."""


class Rest(NamedTuple):
    """The keeper ends; look for no other until one connects to you."""


class Leave(NamedTuple):
    """Make room for a holder of newer code."""


class Prove(NamedTuple):
    """Show that your loop runs."""


class Glance(NamedTuple):
    """Say what your session does now."""


class Consent(NamedTuple):
    """Say whether an operator may do what it asked the keeper for."""

    ticket: int = 0
    asked: Facts | None = None


class Replaced(NamedTuple):
    """One of our processes hung, and was replaced."""

    what: str = ""
    pid: int = 0
    why: str = ""


class Chosen(NamedTuple):
    """What users chose for the session; None is left as it is."""

    name: str | None = None
    keep: bool | None = None


class Warned(NamedTuple):
    """When your session is going to be reaped, as in model.reap_words."""

    reaps_ms: int = 0
    why: str = ""


class Lease(NamedTuple):
    """Until when your session may speak, as in model.lease_words."""

    incarnation: int = 0
    expires: float = 0.0
    why: str = ""
    successor: int = 0


HolderOrder = (
    Forget
    | Rest
    | Leave
    | Prove
    | Glance
    | Consent
    | Replaced
    | Chosen
    | Warned
    | Lease
)

KINDS: dict[str, type[HolderOrder]] = {
    "forget": Forget,
    "rest": Rest,
    "leave": Leave,
    "prove": Prove,
    "glance": Glance,
    "may": Consent,
    "replaced": Replaced,
    "changed": Chosen,
    "lease": Lease,
    "warned": Warned,
}
"""The word for each kind of order."""

_WORDS = {kind: word for word, kind in KINDS.items()}


def packet_of(order: HolderOrder) -> Facts:
    """Return an order as JSON says it; what is not said is left out."""
    said = {name: value for name, value in order._asdict().items() if value is not None}
    return {"do": _WORDS[type(order)], **said}


def order_from(packet: Mapping[str, object]) -> HolderOrder | None:
    """Return what a packet tells a holder; None for an answer, or what is unknown."""
    do = packet.get("do")
    kind = KINDS.get(do) if isinstance(do, str) else None
    return None if kind is None else kind(**sound_fields(kind, packet))
