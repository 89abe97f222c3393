"""Describes, for those who decide, what a line runs and who staged it."""

from collections.abc import Iterable

from holdfast.core.provenance.originators import Traced
from holdfast.model.resolutions import Resolution, Staging
from holdfast.wire import messages as wire
from holdfast.wire.presence import MAX_CHANGED

ESCAPED = 6
"""Characters that one which cannot be written is turned into, at most."""


def shown(
    resolution: Resolution | None,
) -> tuple[str, tuple[wire.Staged, ...]]:
    """Return what a line runs, and which parts of it were staged, as they are sent."""
    if resolution is None:
        return "", ()
    told = tuple(map(_staged, resolution.staged[: wire.MAX_USED]))
    return wire.fitting(resolution.shown(), wire.MAX_RUNS), told


def changed(traced: Iterable[Traced]) -> tuple[wire.Staged, ...]:
    """Return what was changed of a shell, as it is sent: what came last, first."""
    found = sorted(traced, key=lambda one: one.origin.command, reverse=True)
    return tuple(
        wire.Staged(
            one.item.kind.value,
            _name(one.item.name),
            one.origin.actors[: wire.MAX_HANDS],
            one.origin.command,
            one.origin.is_sure,
        )
        for one in found[:MAX_CHANGED]
    )


def _staged(staging: Staging) -> wire.Staged:
    return wire.Staged(
        staging.what.value,
        _name(staging.name),
        staging.by[: wire.MAX_HANDS],
        staging.command,
        staging.is_known,
    )


def _name(name: str) -> str:
    """Return what something is called, and of a long path rather its end."""
    whole = wire.fitting(name, ESCAPED * len(name))
    if len(whole) <= wire.MAX_THING:
        return whole
    return f"…{whole[1 - wire.MAX_THING :]}"
