"""What a policy answers."""

import enum


class Verdict(enum.StrEnum):
    """The answer of a policy to one input. Anything else it says means DENY."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    PREVIEW = "preview"
    """Ask too, once the input was tried out where it does no harm."""


STRICTNESS = {
    Verdict.ALLOW: 0,
    Verdict.PREVIEW: 1,
    Verdict.ASK: 2,
    Verdict.DENY: 3,
}


def verdict_from(answer: object) -> Verdict | None:
    """Read what a policy plug-in returned, or None when it is nonsense.

    Only the four words count. True is not *allow*, and neither is "yes": a
    plug-in that meant something else must not open the gate by accident.
    """
    if type(answer) not in (str, Verdict):
        return None
    return next((verdict for verdict in Verdict if verdict == answer), None)
