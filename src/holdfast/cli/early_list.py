"""`holdfast ls`, done before the rest is loaded."""

import os
import time

from holdfast.cli import session_table
from holdfast.linux import early_requests
from holdfast.linux.stored.policy_state import is_policy_noteworthy
from holdfast.linux.stored.recovery_places import recorded
from holdfast.model.text import printable, shown_name
from holdfast.wire.first_messages import NotOneOfThese

MAX_ID = 32
"""Letters of an id that are shown; as in model.session_record."""

WORDS = {
    "id": str,
    "name": str,
    "state": str,
    "doing": str,
    "turn_of": str,
    "created_ms": int,
    "idle_ms": int,
    "output_ms": int,
    "keep": bool,
    "dozing": bool,
    "command": list,
    "attached": list,
}
"""What is shown of a session, and its type."""


def table() -> str | None:
    """Return what `holdfast ls` prints, if nothing has to be said besides."""
    if is_policy_noteworthy():
        return None
    known = sorted(map(_session, early_requests.listed()))
    if not known or not {one for _, one, _ in known}.issuperset(recorded()):
        return None  # Something was lost, or is about to begin.
    room = os.get_terminal_size(1).columns if os.isatty(1) else 0
    lines = session_table.lines([row for _, _, row in known], room)
    return "".join(f"{line}\n" for line in lines)


def _session(facts: object) -> tuple[int, str, tuple[str, ...]]:
    """Return when a session began, its id, and its row of the table.

    Raises:
        NotOneOfThese: It says something that is not usual.

    """
    if not isinstance(facts, dict) or not _is_usual(facts):
        raise NotOneOfThese
    name, session = facts["name"], facts["id"]
    label = shown_name(name) if name else printable(session, MAX_ID)
    row = session_table.row(label, facts, time.time())  # noqa: TID251  # for display
    return facts["created_ms"], session, row


def _is_usual(facts: dict[str, object]) -> bool:
    """Tell whether facts have all that is shown, each of its type."""
    texts = [*_texts(facts, "command"), *_texts(facts, "attached")]
    return (
        all(type(facts.get(name)) is kind for name, kind in WORDS.items())
        and all(isinstance(one, str) for one in texts)
        and (facts.get("exit") is None or type(facts["exit"]) is int)
        and "exit" in facts
        and facts.get("parent") is None  # Else there is a tree to draw.
    )


def _texts(facts: dict[str, object], name: str) -> list[object]:
    found = facts.get(name)
    return found if isinstance(found, list) else []
