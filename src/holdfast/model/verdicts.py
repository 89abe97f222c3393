"""What a policy answers."""

import enum


class Verdict(enum.StrEnum):
    """The answer of a policy to one input. Anything else it says means DENY."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


def verdict_from(answer: object) -> Verdict | None:
    """Read what a policy plug-in returned, or None when it is nonsense.

    Only the three words count. True is not *allow*, and neither is "yes": a
    plug-in that meant something else must not open the gate by accident.
    """
    if type(answer) not in (str, Verdict):
        return None
    return next((verdict for verdict in Verdict if verdict == answer), None)
