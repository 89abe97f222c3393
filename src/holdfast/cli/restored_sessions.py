"""Brings back every session that was put to disk and ended, such as after a drain."""

import json

from holdfast.client import lost_sessions
from holdfast.model.errors import HoldfastError
from holdfast.model.text import printable

EXIT_LEFT = 1


def restore_all(open_files: str, *, as_json: bool) -> int:
    """Restore all, the first to be stopped first; say which could not be, and why."""
    _, gone = lost_sessions.listed_at("")
    stopped = [one for one in gone if one.image]
    told: list[dict[str, object]] = []
    for one in stopped:
        facts: dict[str, object] = {"id": one.id, "name": one.name, "why": ""}
        name = one.name or one.id[2:8]
        try:
            made = lost_sessions.restore(one.id, one.image, name, open_files)
        except HoldfastError as error:
            facts["why"] = str(error)
            said = f"{one.label} stays on disk: {printable(str(error), 300)}"
        else:
            facts["incarnation"] = made.incarnation
            said = f"{one.label} goes on (incarnation {made.incarnation})."
        told.append(facts)
        if not as_json:
            print(said, flush=True)
    if as_json:
        print(json.dumps({"sessions": told}, indent=2))
    elif not stopped:
        print("No session is on disk alone.")
    return EXIT_LEFT if any(one["why"] for one in told) else 0
