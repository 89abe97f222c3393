"""Decides whether a keystroke is for the session or for us.

Theory of operation
-------------------
Everything typed goes to the session except the prefix, Ctrl-], and the one key after
it:

    PASSING ──Ctrl-]──▶ PREFIXED ──d──▶ Detach
       ▲                   ├──?──▶ Help
       │                   ├──t, g, r, s, S, f, a, n, w──▶ Press
       │                   ├──Ctrl-]──▶ one Ctrl-]
       └───────────────────┴──anything else──▶ that key, without the prefix

A paste is bytes like any other; a prefix inside a bracketed paste is pasted, not
obeyed, because the person who copied the text did not press the key.

Invariants:

I1  Input without a prefix goes through unchanged.
I2  However the bytes are split, the actions are the same.
"""

import enum
from dataclasses import dataclass

PREFIX = 0x1D
"""Ctrl-]: telnet's escape, which hardly anything else uses."""

_ESCAPE = b"\x1b"
_PASTE_BEGINS = b"\x1b[200~"
_PASTE_ENDS = b"\x1b[201~"


@dataclass(frozen=True, slots=True)
class Send:
    """Send these bytes to the session."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Detach:
    """Detach; what was typed after it is discarded."""


@dataclass(frozen=True, slots=True)
class Help:
    """Show what the prefix keys do."""


class Act(enum.Enum):
    """What each key after the prefix does."""

    TAKE = "t"
    GIVE = "g"
    DROP = "r"
    SEIZE = "s"
    SEIZE_AND_FREEZE = "S"
    FREEZE_OR_THAW = "f"
    APPROVE = "a"
    DENY = "n"
    WHO = "w"


@dataclass(frozen=True, slots=True)
class Press:
    """Do something about the turn, or about what waits."""

    act: Act


Action = Send | Detach | Help | Press

_SPOKEN: dict[int, Action] = {
    ord("d"): Detach(),
    ord("D"): Detach(),
    ord("?"): Help(),
    ord("h"): Help(),
    **{ord(act.value): Press(act) for act in Act},
}


class PrefixKeys:
    """Interprets keys."""

    def __init__(self) -> None:
        self._is_prefixed = False
        self._is_pasting = False
        self._recent = b""

    def typed(self, data: bytes) -> list[Action]:
        """Take what was typed; return what to do, in order."""
        if PREFIX not in data and not self._is_prefixed:
            self._watch_paste(data)
            return [Send(data)] if data else []
        actions: list[Action] = []
        through = bytearray()
        for byte in data:
            action = self._pressed(byte, through)
            if action is None:
                continue
            if through:
                actions.append(Send(bytes(through)))
                through.clear()
            actions.append(action)
            if isinstance(action, Detach):
                return actions
        return [*actions, Send(bytes(through))] if through else actions

    def _pressed(self, byte: int, through: bytearray) -> Action | None:
        if self._is_prefixed:
            self._is_prefixed = False
            if action := _SPOKEN.get(byte):
                return action
        elif byte == PREFIX and not self._is_pasting:
            self._is_prefixed = True
            return None
        through.append(byte)
        self._watch_paste(bytes([byte]))
        return None

    def _watch_paste(self, data: bytes) -> None:
        if not self._recent and _ESCAPE not in data:
            return
        seen = self._recent + data
        begins, ends = seen.rfind(_PASTE_BEGINS), seen.rfind(_PASTE_ENDS)
        if begins != ends:  # One of them is there, and the later one counts.
            self._is_pasting = begins > ends
            seen = seen[max(begins, ends) + len(_PASTE_ENDS) :]
        # The beginning of a mark, if that is how it ends.
        last = seen.rfind(_ESCAPE, max(0, len(seen) - len(_PASTE_ENDS) + 1))
        self._recent = seen[last:] if last >= 0 else b""
