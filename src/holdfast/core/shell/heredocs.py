"""Which part of a line with heredocs counts as typed.

The lines of a heredoc are entered one by one, and are one command to the shell: it
executes it once, and tells it as one line. Of a short one that is found out from what
the shell tells. A long one is told in part, and has more lines than are kept: there the
first line stands for all, and is gone when the shell executes a line.
"""

from collections.abc import Sequence

from holdfast.core.provenance.staged import MAX_PARTS
from holdfast.core.shell.simple_command import Command, Way
from holdfast.term.marks import MAX_LINE

_ENDS = (b"\r", b"\n")


def has_heredoc(commands: Sequence[Command]) -> bool:
    """Tell whether lines that follow the first are what a command of it reads."""
    return any(
        one.way is Way.DOCUMENT for each in commands for one in each.redirections
    )


def is_long(payload: bytes) -> bool:
    """Tell whether an input is too long to be told by the shell, or kept."""
    count = sum(map(payload.count, _ENDS))
    return payload.endswith(_ENDS) and (len(payload) > MAX_LINE or count >= MAX_PARTS)


def typed_part(payload: bytes, part: slice) -> bytes:
    """Return what counts as typed of a part of such an input: its first line's."""
    start, stop, _ = part.indices(len(payload))
    ends = [found for end in _ENDS if (found := payload.find(end)) >= 0]
    head = payload[start : min(stop, *ends)]
    return head + payload[-1:] if stop == len(payload) else head
