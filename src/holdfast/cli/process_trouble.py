"""Problems with holdfast's own processes, as the keeper reports them."""

from holdfast.cli.session_table import age
from holdfast.model.process_status import KeeperStatus


def stalled_told(status: KeeperStatus) -> list[str]:
    """Return which processes do not answer, and why."""
    return [f"{name}: {why}" for name, why in (status.stalled or {}).items()]


def given_up_told(status: KeeperStatus) -> list[str]:
    """Return which sessions lost holders that never took over."""
    return [
        f"session {one.id}: {_count(one.count_)} because it {one.why};"
        " keeper.log has more"
        for one in status.given_up
    ]


def _count(count: int) -> str:
    if count == 1:
        return "a holder was given up"
    return f"{count} holders were given up, the last"


def replaced_told(status: KeeperStatus) -> str:
    """Return how many hung and were replaced, and the last one; empty if none."""
    count, last, ago = status.replaced
    return f"{count} that hung; the last, {age(ago)} ago: {last}" if last else ""
