"""The names of operators, as people type and read them.

On the wire an operator is an id. People see the name that is known on this machine or
was sent by the holder, or by the host of a remote session, with the operator's kind and
fingerprint; for an unknown operator, the start of the id.
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
from holdfast.wire.messages import Operator
from holdfast.wire.presence import Present

NOBODY = ActorId("")

MIN_LETTERS = 4
"""Letters of an id that are enough: a typing mistake should match nobody."""

_ID = re.compile(r"a_[a-z2-7]{32}")


class Names:
    """The names of operators, as far as they are known here or were sent."""

    def __init__(self, us: ActorId = NOBODY, *, asks: bool = True) -> None:
        """Start with `us`; ask remote hosts about others, unless nobody can wait."""
        self.us = us
        self._asks = asks
        self._known: dict[ActorId, Actor | None] = {}

    def meet(self, present: Iterable[Operator | Present]) -> None:
        """Take the names that the holder sends of those attached."""
        for one in present:
            self._known[one.actor] = Actor(one.actor, one.kind, one.name)

    def actor(self, actor: ActorId) -> Actor | None:
        """Return an operator, or None if it is not known."""
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
        # The kind is not known; the fingerprint is that of the id.
        return f"unknown ({Actor(actor, ActorKind.AGENT, '').fingerprint()})"

    def you(self, actor: ActorId) -> str:
        """Return the same, but "you" for the user."""
        return "you" if actor and actor == self.us else self.shown(actor)

    def told(self, text: str) -> str:
        """Return a sentence with names in place of ids."""
        return _ID.sub(lambda found: self.shown(ActorId(found[0])), text)


def actor_from(text: str, session: str) -> ActorId:
    """Return the operator meant by @NAME, NAME or an id, on the session's host.

    Raises:
        Forbidden: No operator there, or more than one, has that name.
        PeerError: Its record is damaged.

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
    """Return the operator meant by @NAME, NAME, an id or the start of one.

    Raises:
        Forbidden: No operator here, or more than one, has that name.
        PeerError: Its record is damaged.

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
        return None  # Fall back to ids.
