"""`holdfast end`: end sessions."""

import argparse
import time
from collections.abc import Mapping

from holdfast.cli.arguments import signal_from
from holdfast.client import keeper
from holdfast.client.driver import ask, attachment_to, converse
from holdfast.core.client import questions
from holdfast.core.client.exchange import AttachedInquiry
from holdfast.core.client.questions import Ended, SessionQuestion
from holdfast.model.errors import SessionUnreachable, WaitedInVain
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Forget
from holdfast.model.text import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("sessions", metavar="NAME", nargs="+")
    parser.add_argument("--signal", metavar="S", default="HUP")
    parser.add_argument("--leave-daemons", action="store_true")


def run(options: argparse.Namespace) -> int:
    """End the sessions, wait for each, and drop its record."""
    number = signal_from(options.signal)
    # All of them are known before the first ends.
    found = {one.id: one for one in map(keeper.find, options.sessions)}
    for session in found.values():
        end(session, number, leave=options.leave_daemons)
        print(f"{session.label} has ended")
    return 0


def end(session: SessionRecord, number: int, *, leave: bool = False) -> None:
    """End a session by a signal, wait for it, and drop its record.

    Raises:
        HoldfastError: We may not, or it cannot be reached.

    """
    question = questions.end(number, leave=leave)
    if session.exit is not None or not _end(session, question):
        _end_rest(session, question)
    keeper.request(Forget(session.id), host=session.host)


class _Ending(AttachedInquiry[Ended]):
    """A session that ends; its holder may die before it sweeps."""

    def __init__(
        self, session: SessionRecord, question: SessionQuestion[Ended]
    ) -> None:
        super().__init__(attachment_to(session.id), question, time.monotonic())
        self.is_whole = True
        """Whether one holder has seen all of it."""

        self._session = session

    def cut(self, error: SessionUnreachable, now: float) -> None:
        """Ask the successor, if there is to be one."""
        self.is_whole = False
        super().cut(error, now)
        if _is_over(self._session):
            self.result = Ended()


def _end(session: SessionRecord, question: SessionQuestion[Ended]) -> bool:
    """End a session; False if the process that sweeps may have died before."""
    ending = _Ending(session, question)
    _say_swept(converse(session.id, ending).swept)
    return ending.is_whole


def _end_rest(session: SessionRecord, question: SessionQuestion[Ended]) -> None:
    """End what a session has left whose command has ended already."""
    try:
        _say_swept(ask(session.id, question).swept)
    except (SessionUnreachable, WaitedInVain):
        print("could not look for processes that the session left running")


def _say_swept(fields: Mapping[str, object]) -> None:
    names = printable(str(fields.get("names") or ""))
    for key, word in (("leftovers", "ended"), ("left", "left running")):
        count = fields.get(key) or 0
        if count:
            which = "daemon" if count == 1 else "daemons"
            print(f"{count} {which} {word}: {names}")


def _is_over(session: SessionRecord) -> bool:
    return all(
        known.id != session.id or known.exit is not None
        for known in keeper.sessions(host=session.host)
    )
