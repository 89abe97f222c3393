"""The names of operators. An id tells an agent nothing, and costs it many tokens."""

import re
from collections.abc import Callable, Iterable

from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId
from holdfast.model.text import shown_name
from holdfast.sdk.exported import Present, operator_name
from holdfast.sdk.session import Session

Name = Callable[[str], str]
"""Returns an operator's name, given its id."""

SHORT = 10
"""Characters shown of the id of an unknown operator."""

_ID = re.compile(r"a_[a-z2-7]{32}")


def names_of(
    present: Iterable[Present], *, is_here: bool, with_kind: bool = False
) -> Name:
    """Return the names of those attached, and of others known on this machine.

    Our own machine knows nobody of a remote host.
    """
    known: dict[str, str] = {
        one.actor: f"{shown_name(one.name)} ({one.kind})"
        if with_kind
        else shown_name(one.name)
        for one in present
    }

    def name(actor: str) -> str:
        if actor not in known:
            known[actor] = _enrolled(actor) if is_here else _short(actor)
        return known[actor]

    return name


async def names_in(session: Session, *, with_kind: bool = False) -> Name:
    """Return the names in a session; one that has ended knows few."""
    try:
        present = (await session.who()).present
    except HoldfastError:
        present = ()
    return names_of(present, is_here=not session.host, with_kind=with_kind)


def mentions(text: str) -> bool:
    """Tell whether a text contains an operator's id."""
    return _ID.search(text) is not None


def named(text: str, name: Name) -> str:
    """Return a text with names in place of ids."""
    return _ID.sub(lambda found: name(found[0]), text)


def _enrolled(actor: str) -> str:
    known = operator_name(ActorId(actor))
    return shown_name(known) if known else _short(actor)


def _short(actor: str) -> str:
    return actor[:SHORT]
