"""How much of the machine a session may use.

Standard library only, for the keeper.
"""

import math
from typing import NamedTuple

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Complain = Callable[[str, str], None]

MIN_MEMORY = 16 * 1024**2
"""Bytes: less than a shell with its completions needs, and it could not even start."""

MAX_MEMORY = 1 << 50

MIN_CPU = 50
"""Thousandths of a processor: with less a shell takes seconds to start."""

MAX_CPU = 4096 * 1000
MIN_PIDS = 16
"""Processes: two are ours, one is the shell, and a pipeline has several."""

MAX_PIDS = 1 << 22
"""As many as Linux can have."""

EXPECTED = {
    "memory": 'memory such as "2G", 16M or more',
    "cpus": "a number of processors such as 1.5, 0.05 or more",
    "pids": "a number of processes, 16 or more",
}
"""What people call the limits, and what each may be."""


class Limits(NamedTuple):
    """The most that a session may have at once; 0 is as much as there is."""

    memory: int = 0
    """Bytes."""

    millicpus: int = 0
    """Thousandths of a processor: 1500 is one and a half of them."""

    pids: int = 0
    """Processes, threads counted one by one."""

    def problem(self) -> str:
        """Return what was expected instead; empty if nothing is wrong with it."""
        wrong = (
            name
            for name, one, (least, most) in zip(EXPECTED, self, _RANGES, strict=True)
            if one and not least <= one <= most
        )
        return next((EXPECTED[name] for name in wrong), "")

    def told(self) -> str:
        """Return it for people; empty if there is none."""
        from holdfast.model.settings import bytes_told  # noqa: PLC0415  # slow to load

        said = (
            f"{bytes_told(self.memory)} of memory" if self.memory else "",
            f"{self.millicpus / 1000:g} processors" if self.millicpus else "",
            f"{self.pids} processes" if self.pids else "",
        )
        return ", ".join(one for one in said if one)


_RANGES = ((MIN_MEMORY, MAX_MEMORY), (MIN_CPU, MAX_CPU), (MIN_PIDS, MAX_PIDS))
NO_LIMITS = Limits()


def limit_from(name: str, value: object) -> int | None:
    """Return a limit that people have given; None if it is not what is EXPECTED.

    Zero is no limit.
    """
    if name == "memory" and isinstance(value, str):
        from holdfast.model.settings import bytes_from  # noqa: PLC0415  # slow to load

        value = bytes_from(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if name == "cpus" and math.isfinite(value):
        value = round(value * 1000)
    if not isinstance(value, int):
        return None
    least, most = _RANGES[[*EXPECTED].index(name)]
    return value if value == 0 or least <= value <= most else None


def limits_from(given: "Mapping[str, object]", complain: "Complain") -> Limits:
    """Return limits by what people call them; complain of what is not EXPECTED."""
    found = []
    for name, expected in EXPECTED.items():
        one = limit_from(name, given.get(name, 0))
        if one is None:
            complain(name, f"expected {expected}")
        found.append(one or 0)
    return Limits(*found)
