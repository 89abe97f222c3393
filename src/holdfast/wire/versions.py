"""The protocol version that two sides agree on.

Theory of operation
-------------------
The side that dials offers every version it speaks (HELLO); the other side chooses
the highest that it speaks too (WELCOME), or says exactly what each speaks and
hangs up. Nothing is guessed from release numbers. The set of messages and
PROTOCOL change together: tests/wire/test_versions.py holds the fingerprint of
the one beside the other.

I1  The version chosen is one that both sides speak, and the highest such.
I2  Both sides choose the same, whichever offers and whichever chooses.
"""

TYPE_CHECKING = False
"""True only for type checkers: every attach loads this module first."""

if TYPE_CHECKING:
    from collections.abc import Collection

PROTOCOL = 1
"""The newest version of the wire protocol that this build speaks."""

OLDEST = 1
"""The oldest it still speaks: one release back, so that the two ends of a link
can be upgraded one after the other."""

SPOKEN = tuple(range(PROTOCOL, OLDEST - 1, -1))
"""Every version this build speaks, newest first: what HELLO offers."""

MAX_VERSION = 65_535
"""The highest number a version can have."""

MAX_OFFERED = 16
"""Versions in one offer: more than are ever supported at once."""


def choose(ours: "Collection[int]", theirs: "Collection[int]") -> int:
    """Return the highest version that both sides speak.

    Raises:
        PeerError: There is none.

    """
    common = set(ours) & set(theirs)
    if not common:
        from holdfast.model.errors import NoCommonVersion  # noqa: PLC0415  # rarely needed

        raise NoCommonVersion(spelled(ours), spelled(theirs))
    return max(common)


def spelled(versions: "Collection[int]") -> str:
    """Return versions as a person would list them: '1, 3 to 5'."""
    runs: list[list[int]] = []
    for version in sorted(set(versions)):
        if runs and version == runs[-1][-1] + 1:
            runs[-1].append(version)
        else:
            runs.append([version])
    return ", ".join(map(_spelled_run, runs)) or "none"


def _spelled_run(run: list[int]) -> str:
    return str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}"
