"""The size of an attached terminal, given to the session when `size_claim` says so."""

from collections.abc import Callable

from holdfast.core.client.attachment import Attachment, News
from holdfast.core.view.size_claim import SizeClaim, TurnStatus
from holdfast.model.errors import BudgetSpent
from holdfast.model.geometry import Size
from holdfast.model.ids import ActorId
from holdfast.model.inputs import RESIZES, InputKind
from holdfast.wire.codec import Message
from holdfast.wire.messages import Cells, Resized

_NOBODY = ActorId("")


class AttachedSize:
    """One terminal's size, and the session's."""

    def __init__(
        self,
        attachment: Attachment,
        ours: Callable[[], Size],
        is_alone: Callable[[], bool],
    ) -> None:
        """Claim the size that `ours` returns; `is_alone`: are no others attached?"""
        self.is_due = False
        """Whether the last size was refused for coming too soon, and goes again."""

        self.ours = ours
        self._attachment = attachment
        self._is_alone = is_alone
        self._claim = SizeClaim()
        self._wanted: Size | None = None
        self._open: set[int] = set()
        """Our resizes without an answer."""

    @property
    def session(self) -> Size | None:
        """The session's size, once it is known."""
        return self._claim.session

    @property
    def expected(self) -> Size | None:
        """The size that it will have, if what we have claimed is granted."""
        return self._wanted if self._open or self.is_due else self._claim.session

    @property
    def may_claim(self) -> bool:
        """Whether our size would disturb nobody else."""
        return self._footing().is_undisturbing

    def told(self, size: Cells) -> None:
        """Note that the session has this size."""
        self._claim.told(size.to_size())

    def arrived(self) -> list[Message]:
        """Return what claims our size, having attached or changed it."""
        self.is_due = False
        ours = self.ours()
        claims = self._claim.on_arrival(ours, self._footing())
        return [self._resize(ours)] if claims else []

    def typing(self) -> list[Message]:
        """Return what claims our size before what was typed is sent."""
        ours = self.ours()
        if ours == self._claim.session:
            return []  # As mostly.
        claims = self._claim.on_typing(ours, self._footing())
        return [self._resize(ours)] if claims else []

    def heeds(self, news: News) -> bool:
        """Take another size, or the answer to ours; tell whether it was one of these.

        Nobody typed our resize, so its refusal is not for the user.
        """
        if isinstance(news.message, Resized):
            self.told(news.message.size)
            return True
        if news.answer is None or news.answer[0] not in self._open:
            return False
        sequence, error = news.answer
        self._open.discard(sequence)
        self.is_due = isinstance(error, BudgetSpent) and error.facts["what"] == RESIZES
        if self.is_due:
            self._claim.forget()  # The last size must arrive.
        return True

    def _footing(self) -> TurnStatus:
        attachment = self._attachment
        may_write, holder = attachment.may_write, attachment.holder
        return TurnStatus(
            is_ours=may_write and holder == attachment.us,
            is_free=may_write and holder == _NOBODY,
            is_alone=self._is_alone(),
        )

    def _resize(self, size: Size) -> Message:
        payload = f"{size.columns}x{size.rows}".encode()
        made = self._attachment.submit(InputKind.RESIZE, payload)
        self._open.add(made.sequence)
        self._wanted = size
        return made
