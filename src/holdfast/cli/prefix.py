"""Decides whether a keystroke is for the session or for us.

Theory of operation
-------------------
Everything typed goes to the session except the prefix and the one key after it, which
the settings name:

    PASSING ──prefix──▶ PREFIXED ──d──▶ Detach
       ▲                   ├──s, n, p, l, c, ",", ?──▶ Move
       │                   ├──t, g, r, S, F, f, a, N, w──▶ Press
       │                   ├──v, [, H, J, K, L──▶ Look
       │                   ├──prefix──▶ one prefix
       └───────────────────┴──anything else──▶ that key, without the prefix

A paste is bytes like any other; a prefix inside a bracketed paste is pasted, not
obeyed, because the person who copied the text did not press the key.

A program may have the terminal send keys with Ctrl as sequences (kitty's keyboard,
xterm's other keys). Then the prefix is such a sequence, and comes in one piece.

Invariants:

I1  Input without a prefix goes through unchanged.
I2  However the bytes are split, the actions are the same, but within a sequence.
"""

import enum
import re
from dataclasses import dataclass

from holdfast.model.settings import Settings

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


class Go(enum.Enum):
    """Where a key after the prefix leads, or what it opens."""

    SWITCH = "switch"
    NEXT = "next"
    PREVIOUS = "previous"
    LAST = "last"
    NEW = "new"
    RENAME = "rename"
    HELP = "help"


@dataclass(frozen=True, slots=True)
class Move:
    """Go there; what was typed after it is for whatever is there."""

    go: Go
    rest: bytes = b""


class Act(enum.Enum):
    """What the other keys after the prefix do."""

    TAKE = "take"
    GIVE = "give"
    DROP = "drop"
    SEIZE = "seize"
    SEIZE_AND_FREEZE = "seize-and-freeze"
    FREEZE_OR_THAW = "freeze"
    APPROVE = "approve"
    DENY = "deny"
    WHO = "who"


@dataclass(frozen=True, slots=True)
class Press:
    """Do something about the turn, or about what waits."""

    act: Act


class Sight(enum.Enum):
    """Keys after the prefix that change what is shown of the session."""

    OTHER_VIEW = "view"
    LOOK_BACK = "look-back"
    PAN_LEFT = "pan-left"
    PAN_DOWN = "pan-down"
    PAN_UP = "pan-up"
    PAN_RIGHT = "pan-right"


@dataclass(frozen=True, slots=True)
class Look:
    """Show the session in another way."""

    sight: Sight


Action = Send | Detach | Move | Press | Look

_DONE: dict[str, Action] = {
    "detach": Detach(),
    **{go.value: Move(go) for go in Go},
    **{act.value: Press(act) for act in Act},
    **{sight.value: Look(sight) for sight in Sight},
}
"""By the names that the settings have."""


class PrefixKeys:
    """Interprets keys."""

    def __init__(self, settings: Settings | None = None) -> None:
        """Interpret keys by `settings`, or by the defaults."""
        keys = settings or Settings()
        self._prefix = keys.prefix
        self._own = bytes([keys.prefix]) + _ESCAPE
        pressed = keys.pressed()
        self._actions = {byte: _DONE[what] for byte, what in pressed.items()}
        letter = ord(chr(keys.prefix + 0x40).lower()) if keys.prefix else 0x20
        # Ctrl is 5; locks of the keyboard are added to it.
        self._spelled = re.compile(
            rb"\x1b\[(?:%d;(?:5|69|133|197)(?::1)?u|27;5;%d~)" % (letter, letter)
        )
        self._is_prefixed = False
        self._is_pasting = False
        self._recent = b""

    @property
    def stops(self) -> bytes | None:
        """Which keys may mean something to us next; None if any of them may."""
        if self._is_prefixed or self._is_pasting or self._recent:
            return None
        return self._own

    def typed(self, data: bytes) -> list[Action]:
        """Take what was typed; return what to do, in order."""
        if b"\x1b[" in data and not self._is_pasting:
            data = self._spelled.sub(bytes([self._prefix]), data)
        if self._prefix not in data and not self._is_prefixed:
            self._watch_paste(data)
            return [Send(data)] if data else []
        actions: list[Action] = []
        through = bytearray()
        for place, byte in enumerate(data):
            action = self._pressed(byte, through)
            if action is None:
                continue
            if through:
                actions.append(Send(bytes(through)))
                through.clear()
            if isinstance(action, Detach):
                return [*actions, action]
            if isinstance(action, Move):
                return [*actions, Move(action.go, data[place + 1 :])]
            actions.append(action)
        return [*actions, Send(bytes(through))] if through else actions

    def _pressed(self, byte: int, through: bytearray) -> Action | None:
        if self._is_prefixed:
            self._is_prefixed = False
            if action := self._actions.get(byte):
                return action
        elif byte == self._prefix and not self._is_pasting:
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
