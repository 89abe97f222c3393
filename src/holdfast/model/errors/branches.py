"""The five things a caller can do about an error, as classes to catch."""

from typing import ClassVar

Fact = str | int


class HoldfastError(Exception):
    """Base of every error raised on purpose."""

    code: ClassVar[str] = "error"
    """Stable name on the wire, in logs and in `holdfast --json` output."""

    retryable: ClassVar[bool] = False
    """Whether the same request may succeed later without anything else changed."""

    next_step: ClassVar[str] = ""
    """What to do about it, as a sentence for a person or an agent."""

    def __init__(self, sentence: str, **facts: Fact) -> None:
        super().__init__(sentence)
        self.facts: dict[str, Fact] = facts


class UsageError(HoldfastError):
    """The request itself is wrong; repeating it will not help."""


class Forbidden(HoldfastError):
    """The request is well formed, but not yours to make as things stand."""


class PeerError(HoldfastError):
    """The other side sent something the specification forbids."""


class Unavailable(HoldfastError):
    """Nothing was done; the same request may succeed later."""

    retryable = True


class Unsettled(HoldfastError):
    """Whether it happened is not known; repeating it could do it twice."""
