"""`holdfast ls`, done before the rest is loaded."""

import os
import time

from holdfast.cli import session_table
from holdfast.linux import early_requests
from holdfast.linux.stored.policy_state import is_policy_noteworthy
from holdfast.model.text import printable, shown_name
from holdfast.wire.first_messages import NotOneOfThese

MAX_ID = 32
"""Letters of an id that are shown; as in model.session_record."""


def table() -> str | None:
    """Return what `holdfast ls` prints, if nothing has to be said besides."""
    if is_policy_noteworthy():
        return None
    known = sorted(map(_session, early_requests.listed()))
    if not known:
        return None
    room = os.get_terminal_size(1).columns if os.isatty(1) else 0
    lines = session_table.lines([row for _, _, row in known], room)
    return "".join(f"{line}\n" for line in lines)


def _session(facts: object) -> tuple[int, str, tuple[str, ...]]:
    """Return when a session began, its id, and its row of the table.

    Raises:
        NotOneOfThese: It says something that is not usual.

    """
    match facts:
        case {
            "id": str(session),
            "name": str(name),
            "state": str(state),
            "created_ms": int(created),
            "command": list(command),
            "keep": bool(keep),
            **rest,
        } if all(isinstance(word, str) for word in command):
            status = rest.get("exit")
            if status is not None and not isinstance(status, int):
                raise NotOneOfThese
            row = (
                shown_name(name) if name else printable(session, MAX_ID),
                session,
                session_table.state_told(
                    state, status, keep=keep, dozing=rest.get("dozing") is True
                ),
                session_table.age(time.time() - created / 1000),  # noqa: TID251  # for display
                session_table.command_told(command),
            )
            return created, session, row
    raise NotOneOfThese
