"""Makes the cgroups that keep a session within its limits, where there are any.

Few sessions have limits: only they load the code.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from holdfast.core.capsule.limit_choice import LimitChoice
from holdfast.linux.capsule.start import Capsule
from holdfast.model.errors import CannotLimit, HoldfastError
from holdfast.model.ids import SessionId

if TYPE_CHECKING:
    from holdfast.linux.limits import Limited


class Prepared(NamedTuple):
    """Cgroups in which nothing is yet, and the limits that they can keep."""

    choice: LimitChoice
    made: "tuple[Limited, ...]" = ()
    handles: tuple[int, ...] = ()
    """What lets a process join."""


@contextlib.contextmanager
def prepared(session: SessionId, choice: LimitChoice) -> Iterator[Prepared]:
    """Make what the limits need; it is gone again if the session does not begin.

    Raises:
        CannotLimit: They are required, and the machine does not let us.

    """
    if not any(choice.limits):
        yield Prepared(choice)
        return
    from holdfast.linux import limits  # noqa: PLC0415  # see above

    try:
        made, handles = limits.make(session, choice.limits)
    except CannotLimit:
        if choice.is_required:
            raise
        yield Prepared(LimitChoice())
        return
    try:
        yield Prepared(choice, made, handles)
    except (HoldfastError, OSError):
        limits.remove(made)
        raise
    finally:
        limits.close(handles)


def apply(made: "tuple[Limited, ...]", choice: LimitChoice) -> None:
    """Let the limits hold.

    Raises:
        CannotLimit: The kernel refuses.

    """
    if made:
        from holdfast.linux import limits  # noqa: PLC0415  # see above

        limits.apply(made, choice.limits)


def recorded_in(capsule: Capsule, made: "tuple[Limited, ...]") -> Capsule:
    """Return a capsule whose record names its cgroups."""
    texts = tuple(one.text for one in made)
    return replace(capsule, record=capsule.record._replace(limited=texts))
