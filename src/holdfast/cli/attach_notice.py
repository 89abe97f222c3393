"""The line shown on attaching: who is attached, and who has the turn."""

from holdfast.model.actor_text import shown_actor

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.model.settings import Settings


USUAL = ("Ctrl-] d detaches", "Ctrl-] ? help")
"""The keys that matter, as they are if nobody has set others."""

WIDTH = 80
"""Columns of a terminal that does not say how many it has."""


def keys_told(settings: "Settings") -> tuple[str, ...]:
    """Return the keys that matter, as they are set; the most telling one last."""
    hints = settings.hint("detach", "detaches"), settings.hint("help", "help")
    return tuple(filter(None, hints))


def notice(  # noqa: PLR0913  # all that is in one line
    label: str,
    present: "Iterable[str]",
    turn: str,
    keys: tuple[str, ...] = USUAL,
    *,
    observes: bool,
    size: str = "",
    columns: int = WIDTH,
) -> str:
    """Return the line, of what is safe to print, with those keys that fit.

    `size` is that of the session, if it is not that of the terminal.
    """
    others = ", ".join(present)
    if others:
        here = f"with {others}{', only watching' if observes else ''}"
    else:
        here = "only you, watching" if observes else "only you"
    told = f"[holdfast] {label}: {here}, {turn}"
    if size:
        told += f", the session is {size}"
    for left_out in range(len(keys)):
        whole = f"{told}; {', '.join(keys[left_out:])}"
        if len(whole) <= columns:
            return whole
    return told


def turn_told(who: str, *, is_ours: bool) -> str:
    """Return who has the turn; nobody if there is no `who`."""
    if not who:
        return "the turn is free"
    return "you have the turn" if is_ours else f"{who} has the turn"


def size_told(columns: int, rows: int) -> str:
    """Return a size as people write it."""
    return f"{columns}x{rows}"


def early_notice(
    label: str,
    attached: "Mapping[str, object]",
    client: str,
    ours: tuple[int, int],
    keys: tuple[str, ...] = USUAL,
    *,
    observes: bool,
) -> str | None:
    """Return the line by what ATTACHED says; None if it does not say enough.

    Nor for a terminal of another size that may not claim it: that needs the rest.
    """
    operators, holder = attached["operators"], attached["holder"]
    if not isinstance(operators, list) or not isinstance(holder, str):
        return None
    us, others = "", {}
    for one in operators:
        match one:
            case {"actor": str(actor), "client": str(other)} if other == client:
                us = actor
            case {"actor": str(actor), "kind": str(kind), "name": str(name)}:
                others[actor] = shown_actor(actor, kind, name)
            case _:
                return None
    size = attached["size"]
    is_other_size = size != {"columns": ours[0], "rows": ours[1]}
    claims = holder == us or (not holder and len(operators) == 1)
    if is_other_size and (observes or not claims):
        return None
    others.pop(us, None)
    if holder and holder != us and holder not in others:
        return None  # An operator who has left: the name is to be looked up.
    turn = turn_told(others.get(holder, holder), is_ours=holder == us)
    present, columns = others.values(), ours[0]
    return notice(label, present, turn, keys, observes=observes, columns=columns)
