"""Decides when a session takes on the size of the terminal that shows it.

Theory of operation
-------------------
A session has one size, and may be shown on many terminals. It has the size of the
terminal that is typed on:

    attaching   claims our size if the turn is ours, or if it is free and nobody else
                is attached
    a window    that changes its size claims it under the same condition
    typing      claims it whenever we may type: the turn is ours, or free

A terminal of another size shows the session in a frame until then. A resize never takes
the turn.

Invariants:

I1  The same size is claimed once, until the session has another size: a refusal is not
    answered with the same request at the next key.
I2  Nothing is claimed while another operator has the turn.
"""

from dataclasses import dataclass

from holdfast.model.geometry import Size


@dataclass(frozen=True, slots=True)
class TurnStatus:
    """How we stand in the session."""

    is_ours: bool
    """Whether the turn is ours."""

    is_free: bool
    is_alone: bool
    """Whether nobody else is attached."""

    @property
    def is_undisturbing(self) -> bool:
        """Whether another size would disturb nobody else."""
        return self.is_ours or (self.is_free and self.is_alone)

    @property
    def may_type(self) -> bool:
        """Whether typing is ours to do."""
        return self.is_ours or self.is_free


class SizeClaim:
    """What one terminal has claimed of one session."""

    def __init__(self) -> None:
        self.session: Size | None = None
        """The session's own size, once it is known."""

        self._claimed: Size | None = None

    def told(self, size: Size) -> None:
        """Note that the session has this size."""
        if size != self.session:
            self.session, self._claimed = size, None

    def forget(self) -> None:
        """Note that our last claim came too soon, and may be made again."""
        self._claimed = None

    def on_arrival(self, ours: Size, footing: TurnStatus) -> bool:
        """Tell whether to claim our size, having attached or changed it."""
        return footing.is_undisturbing and self._claims(ours)

    def on_typing(self, ours: Size, footing: TurnStatus) -> bool:
        """Tell whether to claim our size before what was typed is sent."""
        return footing.may_type and self._claims(ours)

    def _claims(self, ours: Size) -> bool:
        if self.session is None or ours in (self.session, self._claimed):
            return False
        self._claimed = ours
        return True
