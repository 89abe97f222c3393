r"""The messages of a shell among the bytes of its pipe.

Theory of operation
-------------------
An integrated shell writes what is set in it into a pipe, whenever that differs from
what it wrote last, and says in the mark of its prompt which message that was:

    holdfast-state 1 KEY NUMBER \0  fields, each ended by \0  end KEY COUNT \0

Any program of the same user can write into the pipe as well, and in between. What
does not begin with the shell's key is dropped. What begins with it and does not end
with it, or has another number of fields, or fields that make no sense, is a message
that was spoiled: nothing of it counts.

    bytes ──feed──▶ messages, by number ──prompted(number)──▶ state, None or UNKNOWN

A prompt whose message has not come, or was spoiled, leaves the state unknown; the
state before it is not taken for the state now. `is_wanted` then tells that the
shell should say everything again, which it does at its next prompt.

Invariants, checked by tests/core/shell/test_state_messages.py:

I1  Without the key no bytes make a state.
I2  However the stream is cut, the same messages come out of it.
I3  A state is told for the prompt that names its message, and for no other.
I4  No more than MAX_MESSAGE bytes and MAX_WAITING states are held.
"""

import enum
import re
from collections import OrderedDict

from holdfast.core.shell.shell_state import ShellState, read_state

MAX_MESSAGE = 4 * 1024 * 1024
"""Bytes of a message: ten times all functions of a rich setup."""

MAX_WAITING = 8
"""Messages kept until their prompts are read: enough for typing ahead."""

_LONGEST = 64
"""Bytes in which a message's begin, or its end, can be looked for whole."""


class Unknown(enum.Enum):
    """Nobody can tell what is set in the shell."""

    UNKNOWN = enum.auto()


UNKNOWN = Unknown.UNKNOWN


class StateMessages:
    """The messages of one session's shell."""

    def __init__(self, key: bytes) -> None:
        self._head = b"holdfast-state 1 " + key + b" "
        self._begin = re.compile(re.escape(self._head) + rb"([0-9]{1,9})\0")
        self._end = re.compile(rb"\0end " + key + rb" ([0-9]{1,9})\0")
        self._buffer = bytearray()
        self._searched = 0
        self._waiting: OrderedDict[int, ShellState | None] = OrderedDict()
        self._told = 0
        self.is_wanted = True

    @property
    def is_settled(self) -> bool:
        """Whether no message has begun, or waits for its prompt."""
        return not self._waiting and self._begin.search(self._buffer) is None

    def past(self) -> tuple[int, bytes]:
        """Return the number of the last message, and bytes that may begin another."""
        return self._told, bytes(self._buffer)

    def go_on(self, told: int, begun: bytes) -> None:
        """Continue after the last message that another process took."""
        self._told, self.is_wanted = told, not told
        self._buffer[:] = begun

    def feed(self, data: bytes) -> None:
        """Take bytes from the pipe."""
        self._buffer += data
        while self._take():
            pass

    def prompted(self, number: int) -> ShellState | Unknown | None:
        """Return the state at a prompt; None if it is the same as at the last one.

        Whatever the shell has written must have been fed before.
        """
        if number and number == self._told:
            return None
        state = self._waiting.get(number)
        for old in [one for one in self._waiting if one <= number]:
            del self._waiting[old]
        self._told = 0 if state is None else number
        self.is_wanted = state is None
        return UNKNOWN if state is None else state

    # ── the stream ────────────────────────────────────────────────────────

    def _take(self) -> bool:
        """Take one message, whole or spoiled, out of the buffer, if there is one."""
        begin = self._begin.search(self._buffer)
        if begin is None:
            # What may be the first part of a begin is kept.
            del self._buffer[:-_LONGEST]
            return False
        # A match looks into the buffer as it is, so it is read before that changes.
        size, number = begin.end() - begin.start(), int(begin[1])
        del self._buffer[: begin.start()]
        start = max(size - 1, self._searched)
        end = self._end.search(self._buffer, start)
        other = self._begin.search(self._buffer, max(1, start))
        if other is not None and (end is None or other.start() < end.start()):
            self._put(number, None, other.start())
        elif end is not None:
            self._put(number, self._read(size, end), end.end())
        elif len(self._buffer) > MAX_MESSAGE:
            self._put(number, None, len(self._buffer))
        else:
            self._searched = max(0, len(self._buffer) - _LONGEST)
            return False
        return True

    def _read(self, size: int, end: re.Match[bytes]) -> ShellState | None:
        body = bytes(self._buffer[size : end.start() + 1])
        return read_state(body) if body.count(b"\0") == int(end[1]) else None

    def _put(self, number: int, state: ShellState | None, size: int) -> None:
        del self._buffer[:size]
        self._searched = 0
        self._waiting[number] = state
        self._waiting.move_to_end(number)
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popitem(last=False)
