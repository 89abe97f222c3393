"""What does a policy answer?"""

import enum


class Verdict(enum.StrEnum):
    """The answer of a policy to one input. Anything else it says means DENY."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
