"""A session shown on the user's terminal, until it ends or the user leaves.

Reads the keyboard and the link at the same time; what becomes of either is decided in
`cli.attached_view`.
"""

import contextlib
import math
import os
import select
import time
from typing import TYPE_CHECKING

from holdfast.cli import attach_notice, early_attach, next_session
from holdfast.cli.attached_view import AttachedView, Foreseen
from holdfast.cli.early_attach import EarlyAttach
from holdfast.cli.next_session import NextSession
from holdfast.cli.operator_names import NOBODY, Names
from holdfast.cli.settings_notice import settings_told
from holdfast.cli.terminal import Leave, Terminal, demand_terminal
from holdfast.client import keeper, session_location
from holdfast.client.driver import Driver, attachment_to
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.conversation import Pause, Receive, Send, Step
from holdfast.core.client.session_history import SessionHistory
from holdfast.model.errors import AttachedToItself, HoldfastError
from holdfast.model.geometry import Size
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Forget
from holdfast.wire.codec import Message
from holdfast.wire.messages import Cells, Mode

if TYPE_CHECKING:
    from holdfast.cli.session_switch import SessionSwitch, Way


QUIET = 2
"""Milliseconds without anything to do, after which the next key is prepared for."""


ECHO = 512
"""Bytes of a message that is shown before it is read: what follows a key. More of them
are better shown together."""

BREATH = 1
"""Milliseconds that we leave to others after that, if nothing is to be done."""


def show(session: SessionRecord, *, observe: bool = False) -> int:
    """Show a session until the user detaches or it ends; return the exit status.

    Raises:
        UsageError: There is no terminal, or it is the session's own.
        HoldfastError: The session cannot be attached to, and why.

    """
    if os.environ.get("HOLDFAST_SESSION") == session.id:
        raise AttachedToItself(session.id)
    demand_terminal()
    early = early_attach.begun(session.id)
    settings, news = settings_told()
    terminal = Terminal(
        early=None if early is None else early.terminal, settings=settings
    )
    seat = _Seat(session, terminal, early, observes=observe)
    seat.onward.news += news
    with contextlib.ExitStack() as ours:
        if terminal.is_taken:
            ours.callback(terminal.close)
        try:
            view = seat.show(ours)
            while seat.onward.goes_to is not None:
                view = seat.go(ours)
        except Leave as leave:
            return 128 + leave.number
    session, status = seat.session, view.result or 0
    if view.is_over:
        print(f"[holdfast] {session.label} ended (status {status})")
        if not observe:
            _clear(session)
    else:
        print(f"[holdfast] detached; `holdfast attach {session.label}` reattaches")
    return status


class _Seat:
    """One user at one terminal, which shows one session after another."""

    def __init__(
        self,
        session: SessionRecord,
        terminal: Terminal,
        early: EarlyAttach | None,
        *,
        observes: bool,
    ) -> None:
        self.onward = NextSession(session, self._going)
        self._terminal = terminal
        self._early = early
        self._mode = Mode.OBSERVE if observes else Mode.OPERATE
        self._tour = SessionHistory(session.id)
        self._way: Way | None = None

    @property
    def session(self) -> SessionRecord:
        """The session that is shown."""
        return self.onward.session

    def show(self, ours: contextlib.ExitStack) -> AttachedView:
        """Show the session until the user leaves it or it ends.

        Raises:
            Leave: A signal told us to end.
            HoldfastError: It cannot be attached to, and why.

        """
        session, terminal = self.session, self._terminal
        early, self._early = self._early, None
        attachment = attachment_to(session.id, self._mode)

        def arrived(size: Size | None) -> None:
            if terminal.is_entered:
                return
            if early is None or not early.is_noticed:
                print(_notice(session, attachment, terminal, size), flush=True)
            ours.enter_context(terminal)

        view = AttachedView(attachment, terminal, arrived, self.onward)
        _go_on(view, early)
        with contextlib.closing(view.screen):
            TerminalDriver(session.id, terminal, view).run(view)
        return view

    def go(self, ours: contextlib.ExitStack) -> AttachedView:
        """Show the session that was chosen; the one before, if that cannot be.

        Raises:
            Leave: A signal told us to end.
            HoldfastError: Neither can be shown.

        """
        before, target, ahead = self.session, self.onward.goes_to, self.onward.ahead
        assert target is not None, "nothing was chosen"  # noqa: S101
        if target.host:
            session_location.settle(target.id, target.host)
        self._tour.goes(target.id)
        self._begin(target, ahead)
        self.onward.patience = next_session.PATIENCE
        try:
            return self.show(ours)
        except HoldfastError as error:
            if self.onward.has_come:
                raise
            self._tour.returns(before.id)
            self._begin(before, b"", f"{target.label}: {error}")
            return self.show(ours)

    def _begin(self, session: SessionRecord, ahead: bytes, *news: str) -> None:
        self._terminal.begins_anew()
        self.onward = NextSession(session, self._going, ahead, news)

    def _going(self, session: SessionRecord) -> "SessionSwitch":
        # Slow to load.
        from holdfast.cli.session_switch import SessionSwitch, way_by  # noqa: PLC0415

        if self._way is None:
            self._way = way_by(self._tour, self._terminal)
        observes = self._mode is Mode.OBSERVE
        return SessionSwitch(self._terminal, session, self._way, observes=observes)


def _go_on(view: AttachedView, early: EarlyAttach | None) -> None:
    """Hand a view the link that was opened before all this was loaded."""
    if early is not None and early.session.is_linked:
        view.goes_on(Cells(*early.size), len(early.terminal.painted))


def _clear(session: SessionRecord) -> None:
    """Remove the record: its reader has seen how it ended. A kept one stays."""
    with contextlib.suppress(HoldfastError):
        now = keeper.resolve(session.id, keeper.sessions(host=session.host))
        if not now.keep:
            keeper.request(Forget(session.id), host=session.host)


class TerminalDriver(Driver):
    """Looks at the keyboard wherever it waits."""

    def __init__(self, session: str, terminal: Terminal, view: AttachedView) -> None:
        super().__init__(session)
        self._terminal = terminal
        self._view = view
        view.is_last = lambda: not self.link.pending
        self._polled: int | None = None
        self._poller = self._poller_for(None)

    def do(self, step: Step) -> object:
        """Do one step, and tell the view of what the user does meanwhile."""
        if type(step) is Receive and self._view.has_come and not step.is_last:
            return self._received(step.until)
        if type(step) is Send:  # Most of what is done, after that.
            self.link.send(*step.messages)
            return None
        if isinstance(step, Pause) and self._view.has_come:
            return self._paused(step.seconds)
        return super().do(step)

    def _paused(self, seconds: float) -> bool:
        """Look at the keyboard for a while, without a link."""
        view, now = self._view, time.monotonic()
        until = now + seconds
        view.flush()  # A frame has a notice that is not drawn yet.
        if (due := view.screen.drawn_by()) < until:
            self._look(due - now)
            view.flush()
        return self._look(until - time.monotonic())

    def _received(self, until: float) -> Message | None:
        view, link = self._view, self.link
        try:
            has_more = link.pending
            if has_more and not view.is_full:
                return link.receive(0)
            view.flush()
            wait = 0.0 if has_more else until - time.monotonic()
            has_more |= self._look(wait, link.fileno())
            view.signalled()
            if has_more:
                return link.receive(0)
        except HoldfastError:
            # What came before the link broke has been counted as seen. Not so when
            # we are told to leave: a terminal that takes nothing would keep us here,
            # and the signal does not come twice.
            view.flush()
            raise
        return None

    def _look(self, wait: float, link: int | None = None) -> bool:
        """Look at the keyboard for a while; tell whether the link has something."""
        terminal, view = self._terminal, self._view
        if link != self._polled:
            self._poller, self._polled = self._poller_for(link), link
        longest = None if wait == math.inf else max(0, math.ceil(wait * 1000))
        ready, next_key = self._waited(longest, link)
        if len(ready) == 1 and link is not None:
            ((fd, _),) = ready
            if fd == link:
                self.link.fill(self._came)
                return True
            if fd == terminal.source and next_key is not None:
                return self._press(terminal.read(), next_key, link)
        has_come = False
        for fd, _ in ready:
            if fd == terminal.source:
                view.typed(terminal.read())
            elif fd == terminal.wake:
                terminal.drain_wake()
            else:
                has_come = True
        return has_come

    def _came(self, raw: bytes) -> None:
        """Show an echo at once, and leave the processor to what shows it."""
        if len(raw) <= ECHO and self._view.show_ahead(raw):
            self._poller.poll(BREATH)

    def _waited(
        self, longest: int | None, link: int | None
    ) -> "tuple[list[tuple[int, int]], Foreseen | None]":
        """Wait so many milliseconds; return what is ready, and how a key is sent."""
        poll = self._poller.poll
        if link is None or (longest is not None and longest <= QUIET):
            return poll(longest), None
        # What follows a key comes soon, and is not to wait for what is prepared.
        if ready := poll(QUIET):
            return ready, None
        next_key = self._view.foresee()
        return poll(longest), next_key

    def _press(self, key: bytes, foreseen: Foreseen, link: int) -> bool:
        """Send a key as it was foreseen, and book it then; any other as usual.

        Tell whether the link has something, if that is its echo: all else can wait.
        """
        if len(key) != 1 or key in foreseen.stops:
            self._view.typed(key)
            return False
        try:
            self.link.send_raw(foreseen.before + key + foreseen.after)
            # Booked after its echo: until then the holder needs the processor more.
            is_echoed = [fd for fd, _ in self._poller.poll(BREATH)] == [link]
            if is_echoed:
                self.link.fill(self._came)
        finally:  # What a link does not take goes on the next one.
            self._view.sent(key)
        return is_echoed

    def _poller_for(self, link: int | None) -> "select.poll":
        """Return what looks at the keyboard and at a link, as often as wanted."""
        poller = select.poll()
        for fd in (self._terminal.wake, self._terminal.source, link):
            if fd is not None:
                poller.register(fd, select.POLLIN)
        return poller


def _notice(
    session: SessionRecord,
    attachment: Attachment,
    terminal: Terminal,
    size: Size | None,
) -> str:
    names = Names(attachment.us or NOBODY, asks=False)
    names.meet(attachment.others)
    others = dict.fromkeys(who.actor for who in attachment.others)
    shown_names = [names.shown(who) for who in others if who != names.us]
    holder = attachment.holder or NOBODY
    who = names.shown(holder) if holder else ""
    turn = attach_notice.turn_told(who, is_ours=holder == names.us)
    observes = attachment.mode is Mode.OBSERVE
    told = "" if size is None else attach_notice.size_told(size.columns, size.rows)
    keys = attach_notice.keys_told(terminal.settings)
    return attach_notice.notice(
        session.label,
        shown_names,
        turn,
        keys,
        observes=observes,
        size=told,
        columns=terminal.size().columns,
    )
