"""What a shell says of its state, as it writes it."""

from collections.abc import Iterable


def fields(said: Iterable[bytes]) -> bytes:
    """Write fields as a shell does."""
    return b"".join(one + b"\0" for one in said)
