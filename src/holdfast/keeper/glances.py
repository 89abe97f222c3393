"""Summaries of sessions for a list: holders are asked, and waited for briefly.

The keeper knows what lasts, and a holder what is so at this moment. A list of both
has every holder that is awake asked at once. The list goes out when all have answered,
or when it is time: a holder that hangs costs a moment, and what it would have said is
left out. Nobody is woken: what a session did when it fell asleep is among its facts.
"""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast.keeper.keeper_state import KeeperState
from holdfast.keeper.vault import Facts  # an annotation people read
from holdfast.model.holder_orders import Glance
from holdfast.model.keeper_messages import Seen

PATIENCE = 0.2
"""Seconds for answers: a holder needs a millisecond, and a hundred that are awake on a
small machine a tenth of a second."""

NOW = ("doing", "turn_of", "attached", "output_ms", "operating", "offset")
"""What is so at a moment only."""

ASLEEP = ("doing", "output_ms", "offset")
"""What a session that dozes was like when it fell asleep, and so is now."""

_BLANK: Facts = {
    **dict.fromkeys(("output_ms", "operating", "offset"), 0),
    **dict.fromkeys(("doing", "turn_of"), ""),
    "attached": [],
}


@dataclass(slots=True)
class _Asker:
    """A client that waits for a list, and the holders it waits for."""

    link: socket.socket
    missing: set[str]
    until: float
    seen: dict[str, Facts] = field(default_factory=dict)


class Glances:
    """Lists that wait for the word of holders."""

    def __init__(
        self, keeper_state: KeeperState, answer: Callable[[socket.socket], None]
    ) -> None:
        """Call `answer` for each link whose list is complete."""
        self._keeper_state = keeper_state
        self._answer = answer
        self._askers: list[_Asker] = []
        self._found: dict[str, Facts] = {}

    def begin(self, link: socket.socket) -> bool:
        """Ask the holders for a client; False if there is none to wait for."""
        deposits = self._keeper_state.vault.deposits
        awake = {
            session
            for session, kept in deposits.items()
            if kept.exit is None
            and not kept.is_dozing
            and not self._keeper_state.stalled(session)
            and self._keeper_state.links_of(session)
        }
        # One that was asked a moment ago, for another client, answers both.
        asked = {session for one in self._askers for session in one.missing}
        until = time.monotonic() + PATIENCE
        for session in awake - asked:
            self._keeper_state.tell_holder(session, Glance())
        if awake:
            self._askers.append(_Asker(link, awake, until))
        return bool(awake)

    def said(self, link: socket.socket, seen: Seen) -> None:
        """Take a holder's answer, if it is about its own session."""
        session = self._keeper_state.held.get(link)
        if session is None or session != seen.id:
            return
        facts: Facts = {name: getattr(seen, name) for name in NOW}
        for one in self._askers:
            if session in one.missing:
                one.seen[session] = facts
        self.gone(session)

    def gone(self, session: str) -> None:
        """Wait no longer for a session's holder."""
        for one in self._askers:
            one.missing.discard(session)
        self._finish(lambda one: not one.missing)

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return min((one.until for one in self._askers), default=None)

    def tick(self, now: float) -> None:
        """Answer those who have waited long enough."""
        self._finish(lambda one: now >= one.until)

    def of(self, session: str) -> Facts:
        """Return what is so now of a session, for the list that is being made."""
        if session in self._found:
            return self._found[session]
        kept = self._keeper_state.vault.deposits[session]
        if not kept.is_dozing:
            return _BLANK
        seen = {name: kept.facts.get(name, _BLANK[name]) for name in ASLEEP}
        return {**_BLANK, **seen}

    def _finish(self, is_due: Callable[[_Asker], bool]) -> None:
        due = [one for one in self._askers if is_due(one)]
        self._askers = [one for one in self._askers if not is_due(one)]
        for one in due:
            self._found = one.seen
            self._answer(one.link)
        self._found = {}
