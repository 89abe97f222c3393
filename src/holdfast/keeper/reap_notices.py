"""Which sessions are going to be reaped, as the host says: kept, and passed on.

A list shows it, so that a session that dozes need not be woken for it; a holder that is
awake tells those who watch. That the machine goes down is told and not kept.
"""

from collections.abc import Callable, Iterable

from holdfast.keeper.vault import Vault
from holdfast.model import holder_orders as orders
from holdfast.model.reap_words import DRAIN, ReapWord


class ReapNotices:
    """What is said of the sessions that are kept here."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.tell_holder: Callable[[str, orders.HolderOrder], None] = _nobody
        """How a session's holder is told something, if it has one."""

    def told(self, words: Iterable[ReapWord]) -> None:
        """Take what the host says."""
        for word in words:
            kept = self._vault.deposits.get(word.id)
            if word.why == DRAIN:
                self.tell_holder(word.id, orders.Warned(word.reaps_ms, word.why))
            elif kept is not None and kept.record.reaps_ms != word.reaps_ms:
                kept.put({**kept.facts, "reaps_ms": word.reaps_ms})
                self.tell_holder(word.id, orders.Warned(word.reaps_ms, word.why))


def _nobody(_session: str, _order: orders.HolderOrder) -> None:
    """Tell nobody."""
