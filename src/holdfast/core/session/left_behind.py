"""What a holder leaves behind when its session dozes, for the holder that is woken.

All of it is known to a holder alone: it is in no logbook, or not exactly. A holder that
dies takes it along, and its successor does without (docs/spec/keeper.md, 13.3). What
dozes has time to write it down.

It is one JSON object. Versions differ: what cannot be read counts as not left, and the
session goes on as after a death.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.core.session.doze import Nap
from holdfast.core.session.paint_requests import Past, Picture
from holdfast.core.shell.shell_state import Item, ItemKind, ShellState
from holdfast.model.errors import HoldfastError, MalformedMessage
from holdfast.model.geometry import Size

FORMAT = 1
"""Raised when an older reader would misunderstand it."""


_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Shell:
    """What the shell had said of itself."""

    told: int
    """The number of its last message that belongs to a prompt; 0 if none does."""

    begun: bytes
    """Bytes of its pipe that may be the beginning of a message."""

    state: ShellState | None


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """All that is left."""

    nap: Nap
    is_staged: bool
    """Whether something stands typed, or may."""

    painting: Past
    shell: Shell | None = None
    """None if the shell says nothing of itself."""

    def to_bytes(self) -> bytes:
        """Write it down."""
        facts = {
            "format": FORMAT,
            "nap": self.nap,
            "staged": self.is_staged,
            "painting": _painting_facts(self.painting),
            "shell": None if self.shell is None else _shell_facts(self.shell),
        }
        return json.dumps(facts).encode()


def read_left(raw: bytes) -> LeftBehind:
    """Read what a holder has left.

    Raises:
        PeerError: It is damaged, or of another version.

    """
    try:
        facts = json.loads(raw)
        if facts["format"] != FORMAT:
            raise MalformedMessage("what was left behind", "of another version")
        shell = facts["shell"]
        return LeftBehind(
            Nap(*map(_number, facts["nap"])),
            facts["staged"] is not False,
            _painting(facts["painting"]),
            None if shell is None else _shell(shell),
        )
    except (*_DAMAGED, HoldfastError) as error:
        raise MalformedMessage("what was left behind", str(error)) from None


def _number(value: object) -> Any:  # noqa: ANN401  # an int stays one
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("it is no number")
    return value


def _painting_facts(past: Past) -> dict[str, object]:
    sizes = [[at, size.columns, size.rows] for at, size in past.sizes]
    kept = past.kept
    return {
        "whole": past.is_whole,
        "begin": past.begin,
        "sizes": sizes,
        "kept": None
        if kept is None
        else {
            "offset": kept.offset,
            "size": [kept.size.columns, kept.size.rows],
            "data": base64.b64encode(kept.data).decode(),
            "exact": kept.exact,
        },
    }


def _painting(facts: Mapping[str, Any]) -> Past:
    kept = facts["kept"]
    return Past(
        facts["whole"] is True,
        _number(facts["begin"]),
        tuple(
            (_number(at), Size(_number(columns), _number(rows)))
            for at, columns, rows in facts["sizes"]
        ),
        None if kept is None else _picture(kept),
    )


def _picture(facts: Mapping[str, Any]) -> Picture:
    return Picture(
        _number(facts["offset"]),
        Size(*map(_number, facts["size"])),
        base64.b64decode(facts["data"], validate=True),
        facts["exact"] is True,
    )


def _shell_facts(shell: Shell) -> dict[str, object]:
    state = shell.state
    return {
        "told": shell.told,
        "begun": shell.begun.hex(),
        "state": None
        if state is None
        else {
            "items": [[*item, digest.hex()] for item, digest in state.items.items()],
            "path": state.path,
            "aliases": dict(state.aliases),
            "environment": dict(state.environment),
            "whole": state.is_whole,
        },
    }


def _shell(facts: Mapping[str, Any]) -> Shell:
    state = facts["state"]
    return Shell(
        _number(facts["told"]),
        bytes.fromhex(facts["begun"]),
        None if state is None else _state(state),
    )


def _state(facts: Mapping[str, Any]) -> ShellState:
    path = facts["path"]
    return ShellState(
        {
            Item(ItemKind(kind), str(name)): bytes.fromhex(digest)
            for kind, name, digest in facts["items"]
        },
        None if path is None else tuple(map(str, path)),
        dict(facts["aliases"]),
        dict(facts["environment"]),
        facts["whole"] is True,
    )
