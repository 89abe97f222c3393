"""The names of operators on remote hosts.

On the wire they are ids, and only the host of a session knows its operators. It
is asked once about each id, and no more when it has failed to answer: without
names there are still ids.
"""

from collections.abc import Iterable, Mapping

from holdfast.client import session_location
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId
from holdfast.model.session_requests import FindNames
from holdfast.model.text import printable, same_name

PATIENCE = 2.0
"""Seconds for names: nobody waits longer to be told who has cut them off."""

MAX_NAME = 64
"""Characters shown of a name that a host tells."""

_told: dict[tuple[str, ActorId], Actor | None] = {}
_silent: set[str] = set()


def actor_elsewhere(actor: ActorId) -> Actor | None:
    """Return an operator's record, if one of the visited hosts has it."""
    for host in sorted(session_location.visited() - _silent):
        if (host, actor) not in _told:
            _told[host, actor] = _ask(host, FindNames(actors=(actor,))).get(actor)
    hosts = sorted(session_location.visited())
    return next((one for host in hosts if (one := _told.get((host, actor)))), None)


def actor_called(host: str, name: str) -> Actor | None:
    """Return who is called that at a host; None if it knows nobody, or won't say."""
    found = _ask(host, FindNames(called=(name,))).values()
    return next((one for one in found if same_name(one.name, name)), None)


def _ask(host: str, asked: FindNames) -> dict[ActorId, Actor]:
    try:
        said = session_location.ask_far(host, asked, PATIENCE).get("names")
    except HoldfastError:
        _silent.add(host)
        return {}
    return dict(_actors(said)) if isinstance(said, dict) else {}


def _actors(said: Mapping[object, object]) -> Iterable[tuple[ActorId, Actor]]:
    for actor, facts in said.items():
        match facts:
            case {"name": str(name), "kind": str(kind)} if kind in list(ActorKind):
                known = ActorId(str(actor))
                shown = printable(name, MAX_NAME)
                yield known, Actor(known, ActorKind(kind), shown)
