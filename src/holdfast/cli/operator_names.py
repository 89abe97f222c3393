"""The names of operators, as people type and read them.

On the wire an operator is an id. People are shown the name that is known on this
machine or was sent by the holder, or by the host of a session elsewhere, its kind
and its fingerprint; for an unknown operator, the beginning of the id.
"""

import re
from collections.abc import Iterable

from holdfast.client.directory import actor_called, actor_elsewhere
from holdfast.client.session_location import home_of
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import HoldfastError, UnknownOperator
from holdfast.model.ids import ActorId
from holdfast.model.text import printable, same_name
from holdfast.wire.company import Present
from holdfast.wire.messages import Operator

NOBODY = ActorId("")

MIN_LETTERS = 4
"""Letters of an id that are enough: a slip of the finger should fit nobody."""

_ID = re.compile(r"a_[a-z2-7]{32}")


class Names:
    """Who is who, as far as it is known here or was told."""

    def __init__(self, us: ActorId = NOBODY, *, asks: bool = True) -> None:
        """Know `us`; ask hosts elsewhere about others, unless nobody must wait."""
        self.us = us
        self._asks = asks
        self._known: dict[ActorId, Actor | None] = {}

    def meet(self, present: Iterable[Operator | Present]) -> None:
        """Take note of what the holder says of those who are attached."""
        for one in present:
            self._known[one.actor] = Actor(one.actor, one.kind, one.name)

    def actor(self, actor: ActorId) -> Actor | None:
        """Return who somebody is, or None if nobody has said so."""
        if actor not in self._known:
            found = _enrolled(actor)
            if found is None and self._asks:
                self._known[actor] = actor_elsewhere(actor)
            else:
                self._known[actor] = None if found is None else found.actor
        return self._known[actor]

    def shown(self, actor: ActorId) -> str:
        """Return how an operator is shown to people."""
        if not actor:
            return "nobody"
        known = self.actor(actor)
        if known is not None:
            return known.shown()
        # Nobody vouches for a kind; the fingerprint is that of the id.
        return f"somebody ({Actor(actor, ActorKind.AGENT, '').fingerprint()})"

    def you(self, actor: ActorId) -> str:
        """Return the same, but for the user, who is "you"."""
        return "you" if actor and actor == self.us else self.shown(actor)

    def told(self, text: str) -> str:
        """Return a sentence with names in the place of ids."""
        return _ID.sub(lambda found: self.shown(ActorId(found[0])), text)


def actor_from(text: str, session: str) -> ActorId:
    """Return who is meant by @NAME, NAME or an id, where a session is at home.

    Raises:
        Forbidden: Nobody there, or more than one, is called that.
        PeerError: What is known of it is damaged.

    """
    home = home_of(session)
    if not home:
        return operator_from(text).actor.id
    wanted = text.removeprefix("@")
    if _ID.fullmatch(wanted):
        return ActorId(wanted)
    found = actor_called(home, wanted)
    if found is None:
        raise UnknownOperator(printable(wanted, 64))
    return found.id


def operator_from(text: str) -> Enrolled:
    """Return the operator that is meant: @NAME, NAME, an id or how it begins.

    Raises:
        Forbidden: Nobody here, or more than one, is called that.
        PeerError: What is known of it is damaged.

    """
    wanted = text.removeprefix("@")
    known = operators.enrolled()
    for one in known:
        if same_name(one.actor.name, wanted) or one.actor.id == wanted:
            return one
    letters = wanted.removeprefix("a_")
    found = [one for one in known if one.actor.id[2:].startswith(letters)]
    if len(letters) < MIN_LETTERS or len(found) != 1:
        raise UnknownOperator(printable(wanted, 64))
    return found[0]


def _enrolled(actor: ActorId) -> Enrolled | None:
    try:
        return operators.by_actor(actor)
    except (OSError, HoldfastError):
        return None  # Without names there are still ids.
