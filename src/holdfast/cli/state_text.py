"""Formats a session's state and its evidence, for people and for programs.

By the fields of EVIDENCE, which are the same for every reader.
"""

from holdfast.model.text import printable

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Fields = Mapping[str, Any]


LISTED = {"runtime": "plain", "memory": 0, "millicpus": 0, "pids": 0}
"""What is said of a session that its keeper lists, and what is usual."""


def lines(seen: "Fields") -> list[str]:
    """Return what was seen, for people."""
    sure = "" if seen["sure"] else " (not sure)"
    told = [state_told(seen["state"], seen["program"]) + sure]
    told += [f"  {printable(one)}" for one in seen["why"]]
    if seen["foreground"]:
        echo = "on" if seen["echo"] else "off"
        reads = "whole lines" if seen["canonical"] else "single keys"
        told.append(
            f"  group {seen['foreground']} has the terminal: echo {echo}, reads {reads}"
        )
    if seen["unread"]:
        told.append(f"  {seen['unread']} bytes typed and not read")
    return told


def state_told(state: str, program: str) -> str:
    """Return a state, and in which program, for people."""
    return printable(f"{state} in {program}" if program else state, 100)


def facts(session: str, listed: "Fields", seen: "Fields") -> dict[str, object]:
    """Return what was seen of a session, and what is listed of it, as JSON says it."""
    return {
        "session": session,
        **{name: listed.get(name, usual) for name, usual in LISTED.items()},
        "state": seen["state"],
        "program": seen["program"] or None,
        "sure": seen["sure"],
        "why": list(seen["why"]),
        "foreground": seen["foreground"] or None,
        "echo": seen["echo"],
        "canonical": seen["canonical"],
        "unread": seen["unread"],
        "processes": [
            {name: one[name] for name in ("pid", "name", "state", "where")}
            for one in seen["sleepers"]
        ],
    }
