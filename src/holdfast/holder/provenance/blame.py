"""Who is behind what a client asks about.

All that is known is in memory, so the answer is given at once. Anything that takes
time, such as reading a file or walking the process table, is done by the client; here
we only say who ran the command at that moment.
"""

from itertools import groupby
from typing import Protocol

from msgspec.structs import replace

from holdfast.core.provenance.originators import Origin, Origins
from holdfast.core.provenance.staged import Staged
from holdfast.core.shell.shell_state import Item, ItemKind
from holdfast.model.errors import MalformedArgument, NoMarks
from holdfast.model.ids import ActorId
from holdfast.model.text import printable
from holdfast.wire import blame as wire
from holdfast.wire.messages import fitting

_KINDS = {kind.value: kind for kind in ItemKind}
_USED = frozenset({ItemKind.ALIAS, ItemKind.FUNCTION})
"""What is used by its name standing in a line."""

LINE = "line"
MOMENT = "moment"
PROCESS = "process"

_NOTHING = wire.BlameReport(
    standing="none",
    how="",
    digest=b"",
    behind=None,
    used=None,
    silent=False,
    staged=b"",
    by=(),
    others=(),
    edited=False,
    hidden=0,
)


class Followed(Protocol):
    """What is known of the commands of one session (shell_commands.py)."""

    origins: Origins

    @property
    def is_marked(self) -> bool:
        """Whether the shell tells of its commands."""
        ...

    @property
    def is_silent(self) -> bool:
        """Whether the shell is not at its prompt, as far as it has told."""
        ...


def line_report(staged: Staged, owners: tuple[ActorId, ...]) -> wire.BlameReport:
    """Say who typed what stands at the prompt, byte by byte."""
    runs = [(actor, len([*run])) for actor, run in groupby(owners)]
    told = tuple(
        wire.Stretch(size, actor) for actor, size in runs[: wire.MAX_STRETCHES]
    )
    size = sum(one.size for one in told)
    return replace(
        _NOTHING,
        standing="none" if staged.is_empty else "changed",
        staged=staged.data[:size],
        by=told,
        others=tuple(one for one in staged.by if one not in owners)[: wire.MAX_AUTHORS],
        edited=staged.is_edited,
        hidden=staged.hidden,
    )


def report(asked: wire.BlameRequest, shell: Followed) -> wire.BlameReport:
    """Say who is behind something that the shell did.

    Raises:
        UsageError: There is no such kind of thing, or the shell tells nothing.

    """
    if not shell.is_marked:
        raise NoMarks("the session's program")
    origins = shell.origins
    if asked.what == MOMENT:
        return _moment(origins.at(asked.at_ms))
    if asked.what == PROCESS:
        return _moment(origins.at_up(asked.at_ms))
    kind = _KINDS.get(asked.what)
    if kind is None:
        raise MalformedArgument(printable(asked.what), "something a shell has")
    return _item(Item(kind, asked.name), shell)


def _item(item: Item, shell: Followed) -> wire.BlameReport:
    origins = shell.origins
    origin, traced = origins.of(item), origins.traced(item)
    used = origins.last_use(item.name) if item.kind in _USED else None
    digest = origins.digest(item)
    if origin is None:
        standing = "initial" if digest else "absent"
    else:
        standing = "changed" if origin.command else "unknown"
    return replace(
        _NOTHING,
        standing=standing,
        how="" if traced is None else traced.how.value,
        digest=digest[: wire.MAX_TRACE],
        behind=None if origin is None or not origin.command else behind(origin),
        used=None if used is None else behind(used),
        silent=shell.is_silent,
    )


def _moment(origin: Origin | None) -> wire.BlameReport:
    if origin is None:
        return _NOTHING
    standing = "changed" if origin.command else "unknown"
    told = behind(origin) if origin.command else None
    return replace(_NOTHING, standing=standing, behind=told)


def behind(origin: Origin) -> wire.Behind:
    """Return an origin as it travels."""
    return wire.Behind(
        command=origin.command,
        first=origin.first,
        trigger=origin.trigger,
        authors=origin.authors[: wire.MAX_AUTHORS],
        line=fitting(origin.line, wire.MAX_BLAMED_LINE),
        at_ms=max(0, origin.at_wall_ms),
    )
