"""A session shown on the user's terminal, until it ends or the user leaves.

Carries keys to the holder and output to the terminal. When the holder dies, it
waits for the successor and continues after the last byte shown; inputs without an
answer are sent again under their own ids. The user notices only if it took long.
"""

import contextlib
import math
import os
import select
import signal
import time

from holdfast.cli.attach_keys import Do, Effect, Say, Wheel
from holdfast.cli.operator_names import NOBODY, Names
from holdfast.cli.prefix import Act, Detach, Help, PrefixKeys, Press, Send
from holdfast.cli.terminal import Leave, Terminal, demand_terminal
from holdfast.client import driver, keeper
from holdfast.client.attached_link import attach
from holdfast.client.connection import Connection
from holdfast.client.current_operator import our_pen
from holdfast.client.session_location import home_of
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.signing import Pen
from holdfast.core.client.timeouts import RETRY
from holdfast.core.relay.redial import Redial
from holdfast.model.errors import (
    AttachedToItself,
    BudgetSpent,
    HoldfastError,
    SessionLost,
    SessionUnreachable,
    Unavailable,
)
from holdfast.model.inputs import RESIZES, InputKind
from holdfast.model.session_record import SessionRecord
from holdfast.model.session_requests import Forget
from holdfast.wire.codec import Message
from holdfast.wire.company import Who
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Attached, Cells, Exited, Gap, Lost, Mode, Refuse
from holdfast.wire.messages import Detach as DetachMessage

HELP = (
    "Ctrl-] then: d detach   t take, or ask   g give   r drop",
    "s seize   S seize and freeze   f freeze, or thaw   w who",
    "a approve   n deny   ? this help   Ctrl-] send Ctrl-] itself",
)

_LEAD = len("[holdfast] ")

GIVE_UP = 15.0
"""Seconds without a holder after which the user is told instead of kept waiting."""

SOON = 1.0
"""Seconds of interruption that nobody needs to be told of."""

ATTEMPT = 0.5
"""Seconds for one attempt to attach again; then the keyboard is looked at."""

LONGEST_WAIT = 5.0
"""Seconds between attempts to reach a host elsewhere while somebody looks on."""

MAX_OPEN = 64
"""Inputs sent without an answer: well under what a holder lets wait."""

MAX_BACKLOG = 64 * 1024
"""Bytes typed that a program does not read; more is a cat on the keyboard."""

MAX_WRITE = 256 * 1024
"""Bytes gathered before they are shown, so that keys are looked at in between."""


class _Left(Exception):
    """The user left, or the session did; `status` is what to exit with."""

    def __init__(self, status: int, *, is_over: bool = False) -> None:
        super().__init__(status)
        self.status = status
        self.is_over = is_over


def show(session: SessionRecord, *, observe: bool = False) -> int:
    """Show a session until the user detaches or it ends; return the exit status.

    Raises:
        UsageError: There is no terminal, or it is the session's own.
        HoldfastError: The session cannot be attached to, and why.

    """
    if os.environ.get("HOLDFAST_SESSION") == session.id:
        raise AttachedToItself(session.id)
    demand_terminal()
    mode = Mode.OBSERVE if observe else Mode.OPERATE
    terminal = Terminal()
    attachment = driver.attachment_to(session.id, mode)
    link, attached = attach(attachment, _cells(terminal), keyframe=True)
    print(_notice(session, attachment), flush=True)
    try:
        with terminal:
            _Shown(session.label, attachment, terminal).run(link, attached)
    except _Left as left:
        print(f"[holdfast] {_farewell(session, left)}")
        if left.is_over and not observe:
            _clear(session)
        return left.status
    except Leave as leave:
        return 128 + leave.number
    raise AssertionError("run ends with an exception")


def _clear(session: SessionRecord) -> None:
    """Remove the record: its reader has seen how it ended. A kept one stays."""
    with contextlib.suppress(HoldfastError):
        now = keeper.resolve(session.id, keeper.sessions(host=session.host))
        if not now.keep:
            keeper.request(Forget(session.id), host=session.host)


class _Shown:
    """One session on one terminal."""

    def __init__(self, label: str, attachment: Attachment, terminal: Terminal) -> None:
        self._wheel = Wheel(label, attachment, self._room)
        self._title = ""
        self._attachment = attachment
        self._terminal = terminal
        self._keys = PrefixKeys()
        self._backlog = bytearray()
        self._retry_at: float | None = None
        self._pen: Pen | None = None
        self._rolled_off = 0
        """Bytes printed before we came that nobody can be shown, until it is said."""

    def run(self, link: Connection, attached: Attached) -> None:
        """Carry until somebody leaves, which is an exception."""
        self._rolled_off = attached.start
        while True:
            try:
                with link:
                    self._carry_on(link, attached)
            except SessionUnreachable:
                pass
            link, attached = self._find_again()

    # ── carrying ──────────────────────────────────────────────────────────

    def _carry_on(self, link: Connection, attached: Attached) -> None:
        try:
            self._begin(link, attached)
            self._carry(link)
        except (_Left, Leave):
            self._sign_off(link)
            raise

    def _begin(self, link: Connection, attached: Attached) -> None:
        self._wheel.heard(attached)
        self._retitle()
        link.send(Who())  # What stands still and who waits is told to who asks.
        size = _cells(self._terminal)
        if self._attachment.may_write and size != attached.size:
            self._resize(link)

    def _carry(self, link: Connection) -> None:
        poller = select.poll()
        for fd in (self._terminal.source, self._terminal.wake, link.fileno()):
            poller.register(fd, select.POLLIN)
        while True:
            self._send_typed(link)  # Also what was typed while there was no link.
            self._sign(link)
            ready = dict(poller.poll(0 if link.pending else self._patience()))
            if self._terminal.wake in ready:
                self._terminal.drain_wake()
            if self._signalled(link):
                return
            if self._terminal.source in ready:
                self._typed(link)
            if link.fileno() in ready or link.pending:
                self._hear(link)

    def _patience(self) -> int | None:
        if self._attachment.is_stalled or self._terminal.has_new_size:
            return int(RETRY * 1000)
        left = self._attachment.signing.wait(time.monotonic())
        return None if left is None else math.ceil(left * 1000)

    def _sign(self, link: Connection) -> None:
        """Sign what was typed, once a second at most."""
        signing = self._attachment.signing
        if signing.wait(time.monotonic()) == 0:
            said = signing.sign(self._loaded_pen())
            if said is not None:
                link.send(said)

    def _sign_off(self, link: Connection) -> None:
        """Sign the rest, once it is known what became of what was typed last."""
        attachment = self._attachment
        if attachment.open or not attachment.signing.is_done:
            driver.leave(link, attachment, self._loaded_pen())

    def _loaded_pen(self) -> Pen | None:
        self._pen = self._pen or our_pen(self._attachment.session)
        return self._pen

    def _signalled(self, link: Connection) -> bool:
        """Do what signals asked for; True if the screen must be painted anew."""
        terminal = self._terminal
        if terminal.is_to_stop:
            terminal.stop()
        if terminal.was_continued:
            terminal.retake()
            self._attachment.offset = None  # Somebody else drew on the screen.
            return True
        if terminal.has_new_size:
            terminal.has_new_size = False
            if self._attachment.may_write:
                self._resize(link)
        return False

    def _resize(self, link: Connection) -> None:
        size = self._terminal.size()
        payload = f"{size.columns}x{size.rows}".encode()
        link.send(self._attachment.submit(InputKind.RESIZE, payload))

    def _typed(self, link: Connection | None) -> None:
        keys = self._terminal.read()
        if not keys:
            raise Leave(signal.SIGHUP)
        for action in self._keys.typed(keys):
            match action:
                case Send(data):
                    self._keep(self._answered(data, link))
                case Press(act):
                    self._pressed(act, link)
                case Help():
                    self._terminal.overlay(*HELP)
                case Detach():
                    self._say_goodbye(link)
                    raise _Left(0)

    def _pressed(self, act: Act, link: Connection | None) -> None:
        self._perform(self._wheel.pressed(act), link)

    def _answered(self, data: bytes, link: Connection | None) -> bytes:
        """Return what of `data` was not the answer to a question of ours."""
        if not self._wheel.is_asking:
            return data
        effects, rest = self._wheel.answered(data)
        self._perform(effects, link)
        return rest

    def _perform(self, effects: list[Effect], link: Connection | None) -> None:
        for effect in effects:
            match effect:
                case Say(text, loud):
                    self._terminal.overlay(text)
                    if loud:
                        self._terminal.bell()
                case Do(message) if link is not None:
                    link.send(message)
                case Do():
                    self._terminal.overlay("the session does not answer now")

    def _room(self) -> int:
        """Return how long a line of ours may be without being broken."""
        return self._terminal.size().columns - 1 - _LEAD

    def _retitle(self) -> None:
        """Keep it visible who has the turn, also when a program sets the title."""
        wanted = self._wheel.title
        if wanted != self._title or self._terminal.needs_title:
            self._title = wanted
            self._terminal.title(wanted)

    def _keep(self, data: bytes) -> None:
        room = MAX_BACKLOG - len(self._backlog)
        if not data:
            return
        if self._attachment.mode is Mode.OBSERVE:
            self._terminal.overlay("you are watching only; Ctrl-] d detaches")
        elif len(data) > room:
            self._terminal.bell()
        else:
            self._backlog += data

    def _say_goodbye(self, link: Connection | None) -> None:
        if link is None:
            return
        with contextlib.suppress(Unavailable):
            if self._backlog and len(self._attachment.open) < MAX_OPEN:
                self._send_typed(link)
            self._sign_off(link)
            link.send(DetachMessage())

    def _send_typed(self, link: Connection) -> None:
        attachment = self._attachment
        if attachment.is_stalled:
            now = time.monotonic()
            if self._retry_at is None or now >= self._retry_at:
                self._retry_at = now + RETRY
                for again in attachment.open:
                    link.send(again)
            return
        if self._backlog and len(attachment.open) < MAX_OPEN:
            data = bytes(self._backlog)
            self._backlog.clear()
            link.send(attachment.submit(InputKind.KEYS, data, waits=False))

    def _hear(self, link: Connection) -> None:
        shown = bytearray()
        try:
            while len(shown) < MAX_WRITE and (message := link.receive(0)) is not None:
                was_seen = self._attachment.offset is not None
                shown += self._attachment.heard(message)
                self._heed(message, shown)
                if was_seen and isinstance(message, Gap):
                    self._announce_gap(message, shown)
        except HoldfastError:
            # What came before the link broke has been counted as seen. Not so
            # when we are told to leave: a terminal that takes nothing would
            # keep us here, and the signal does not come twice.
            self._terminal.write(bytes(shown))
            raise
        self._terminal.write(bytes(shown))
        self._retitle()
        if self._rolled_off and shown:
            count, self._rolled_off = self._rolled_off, 0
            self._terminal.overlay(f"{count} bytes printed before this are gone")

    def _announce_gap(self, gap: Gap, shown: bytearray) -> None:
        """Say that something is missing, between what comes before and after it."""
        self._terminal.write(bytes(shown))
        shown.clear()
        self._terminal.overlay(f"{gap.end - gap.start} bytes of output are gone")

    def _heed(self, message: Message, shown: bytearray) -> None:
        answer = self._attachment.answered(message)
        match message:
            case Exited(status):
                self._terminal.write(bytes(shown))
                shown.clear()
                raise _Left(_exit_status(status), is_over=True)
            case Lost():
                raise SessionLost(self._attachment.incarnation or 1)
            case Refuse(refused=FrameKind.SIGN):
                pass  # The book says what is signed; nobody typed this.
            case _ if answer is not None and _is_hasty_resize(answer[1]):
                self._terminal.has_new_size = True  # The last size must arrive.
            case _ if answer is not None and answer[1] is not None:
                self._tell(self._wheel.refused(answer[1]), shown)
            case _:
                self._tell(self._wheel.heard(message), shown)

    def _tell(self, effects: list[Effect], shown: bytearray) -> None:
        """Say something of our own after what was printed before it."""
        if effects:
            self._terminal.write(bytes(shown))
            shown.clear()
            self._perform(effects, None)

    # ── between two holders ───────────────────────────────────────────────

    def _find_again(self) -> tuple[Connection, Attached]:
        lost_at = time.monotonic()
        ask_at = lost_at + SOON
        redial = Redial(LONGEST_WAIT)
        while True:
            try:
                found = attach(
                    self._attachment,
                    _cells(self._terminal),
                    keyframe=True,
                    patience=ATTEMPT,
                )
            except SessionUnreachable as error:
                wait = self._pause(lost_at, redial)
                if wait is None:
                    raise
                self._look_up(wait)
                # Of a host that cannot be reached there is nothing to be learnt.
                is_away = isinstance(error.__cause__, HoldfastError)
                if time.monotonic() >= ask_at and not is_away:
                    ask_at = time.monotonic() + SOON
                    self._ask_keeper()
                continue
            if time.monotonic() - lost_at > SOON:
                self._terminal.overlay("reconnected")
            return found

    def _pause(self, lost_at: float, redial: Redial) -> float | None:
        """Return how long to wait before the next attempt; None to give up.

        A holder of this machine is back at once or never. A way through a network
        comes back some time, and whoever looks at it is told that it is away.
        """
        now = time.monotonic()
        if not home_of(self._attachment.session):
            return None if now - lost_at > GIVE_UP else 0.0
        if now - lost_at > SOON:
            self._terminal.overlay("reconnecting…; Ctrl-] d leaves")
        return redial.wait_after(now, os.urandom(1)[0] / 255)

    def _look_up(self, wait: float) -> None:
        """Look at the keyboard for a while: whoever waits may want to leave."""
        poller = select.poll()
        poller.register(self._terminal.source, select.POLLIN)
        if poller.poll(wait * 1000):
            self._typed(None)

    def _ask_keeper(self) -> None:
        """Ask whether there is anything left to wait for."""
        try:
            host = home_of(self._attachment.session)
            known = {one.id: one for one in keeper.sessions(host=host)}
        except Unavailable:
            return  # Without a keeper nobody knows, and we go on waiting.
        session = known.get(self._attachment.session)
        if session is None:
            raise SessionLost(self._attachment.incarnation or 1)
        if session.exit is not None:
            raise _Left(_exit_status(session.exit), is_over=True)


def _is_hasty_resize(error: HoldfastError | None) -> bool:
    return isinstance(error, BudgetSpent) and error.facts["what"] == RESIZES


def _cells(terminal: Terminal) -> Cells:
    size = terminal.size()
    return Cells(size.columns, size.rows)


def _exit_status(status: int) -> int:
    return status if status >= 0 else 128 - status


def _notice(session: SessionRecord, attachment: Attachment) -> str:
    names = Names(attachment.us or NOBODY, asks=False)
    names.meet(attachment.others)
    others = dict.fromkeys(who.actor for who in attachment.others)
    company = ", ".join(names.shown(who) for who in others if who != names.us)
    watching = ", watching only" if attachment.mode is Mode.OBSERVE else ""
    return (
        f"[holdfast] {session.label}:"
        f" {f'with {company}' if company else 'nobody else is here'}{watching},"
        f" {_turn(attachment, names)}; Ctrl-] d detaches, Ctrl-] ? helps"
    )


def _turn(attachment: Attachment, names: Names) -> str:
    if not attachment.holder:
        return "the turn is free"
    has = "have" if attachment.holder == names.us else "has"
    return f"{names.you(attachment.holder)} {has} the turn"


def _farewell(session: SessionRecord, left: _Left) -> str:
    if left.is_over:
        return f"{session.label} has ended ({left.status})"
    return f"detached; `holdfast attach {session.label}` comes back"
