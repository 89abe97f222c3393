"""Problems with holdfast's own processes, as the keeper reports them."""

from holdfast.cli.session_table import age

Facts = dict[str, object]


def stalled_told(answer: Facts) -> list[str]:
    """Return which processes do not answer, and why."""
    stalled = answer.get("stalled")
    found = stalled.items() if isinstance(stalled, dict) else ()
    return [f"{name}: {why}" for name, why in found]


def given_up_told(answer: Facts) -> list[str]:
    """Return which sessions lost holders that never took over."""
    lost = answer.get("given_up")
    return [
        f"session {one.get('id')}: {_count(one.get('count'))} because it"
        f" {one.get('why')}; keeper.log has more"
        for one in (lost if isinstance(lost, list) else ())
    ]


def _count(count: object) -> str:
    if count == 1:
        return "a holder was given up"
    return f"{count} holders were given up, the last"


def replaced_told(answer: Facts) -> str:
    """Return how many hung and were replaced, and the last one; empty if none."""
    replaced = answer.get("replaced")
    if not isinstance(replaced, dict) or not replaced.get("last"):
        return ""
    when = age(float(replaced.get("ago") or 0))
    return (
        f"{replaced.get('count')} that hung; the last, {when} ago: {replaced['last']}"
    )
