"""What an attached terminal sends and shows before it thinks about it."""

import os
import pty
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from tests.cli.support.operating import waiting

from holdfast.cli.attached import TerminalDriver
from holdfast.cli.attached_view import MAX_OPEN, AttachedView
from holdfast.cli.next_session import NextSession
from holdfast.cli.prefix import Go, Move
from holdfast.cli.terminal import Terminal
from holdfast.client.connection import Connection
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.conversation import Receive
from holdfast.core.client.holder_link import Credentials
from holdfast.linux.pty import set_size
from holdfast.model.actors import ActorKind
from holdfast.model.errors import SessionUnreachable
from holdfast.model.geometry import Size
from holdfast.model.ids import Epoch, Incarnation, actor_id, client_id, session_id
from holdfast.model.inputs import InputKind
from holdfast.model.session_record import SessionRecord
from holdfast.wire.codec import encode
from holdfast.wire.messages import (
    Attached,
    Cells,
    Challenge,
    ClientKind,
    Gap,
    Mode,
    Operator,
    Output,
    Resized,
    TurnPassed,
    Welcome,
)

US, OTHER = actor_id(b"us"), actor_id(b"other")
CLIENT = client_id(b"0123456789")
SESSION = session_id(b"0123456789")
SIZE = Size(80, 24)
END = b"<end>"


class Seat:
    """A view on a real terminal, and a holder who says what it is told to say."""

    def __init__(self, mode: Mode = Mode.OPERATE) -> None:
        self.master, self.slave = pty.openpty()
        set_size(self.slave, SIZE)
        self.attachment = Attachment(SESSION, CLIENT, bytes(32), mode)
        self.terminal = Terminal(self.slave, self.slave)
        record = SessionRecord(SESSION, "web", 1)
        self.onward = NextSession(record, lambda _: self.going)  # type: ignore[arg-type, return-value]
        self.view = AttachedView(
            self.attachment, self.terminal, lambda _: None, self.onward
        )
        self.terminal.__enter__()
        self.view.is_last = lambda: True
        self.view.linked(0.0)
        self.hears(_attached())
        self.hears(Output(0, b"$ "))
        self.ticks()
        self.shown()

    class Going:
        """Something that is open over the session."""

        is_open = True
        deadline = None
        session = None
        said = ""

        def pressed(self, _: Go) -> None:
            return None

    going = Going()

    def hears(self, message: object) -> None:
        self.view.hear(message, 1.0)  # type: ignore[arg-type]

    def ticks(self) -> list[object]:
        return [*self.view.tick(1.0)]

    def shown(self) -> bytes:
        """Return what was shown since the last time, and no more."""
        os.write(self.slave, END)
        shown = b""
        while not shown.endswith(END):
            shown += os.read(self.master, 4096)
        return shown.removesuffix(END)

    def close(self) -> None:
        self.terminal.close()
        os.close(self.master)
        os.close(self.slave)


def _attached() -> Attached:
    return Attached(
        session=SESSION,
        name="web",
        incarnation=Incarnation(1),
        epoch=Epoch(3),
        holder=US,
        start=0,
        end=1,
        state="running",
        size=Cells(80, 24),
        operators=(Operator(US, ActorKind.HUMAN, "us", CLIENT),),
    )


@pytest.fixture
def seat() -> Iterator[Seat]:
    made = Seat()
    yield made
    made.close()


class Linked:
    """A seat with a real link, to a holder that reads one key and is told what to do.

    The key is pressed once the driver has found nothing to do, and has foreseen it.
    """

    def __init__(self, seat: Seat, then: Callable[[socket.socket], None]) -> None:
        ours, self._theirs = socket.socketpair()
        ours.settimeout(0)
        who = Credentials(US, ClientKind.CLI, lambda _: bytes(32))
        driver = TerminalDriver(SESSION, seat.terminal, seat.view)
        driver.link = Connection(SESSION, ours, who)
        self._theirs.sendall(encode(Welcome(1, "it")) + encode(Challenge(bytes(32))))
        driver.link.fill(lambda _: None)
        self._theirs.recv(4096)
        self.sent = b""
        foresee = seat.view.foresee
        foreseen = threading.Event()

        def foresee_and_tell() -> object:
            found = foresee()
            foreseen.set()
            return found

        seat.view.foresee = foresee_and_tell  # type: ignore[method-assign, assignment]

        def hold() -> None:
            foreseen.wait(5)
            os.write(seat.master, b"a")
            self.sent = self._theirs.recv(4096)
            then(self._theirs)

        holder = threading.Thread(target=hold)
        holder.start()
        try:
            self.heard = _heard_by(driver)
        finally:
            holder.join()
            driver.link.close()
            self._theirs.close()


def _heard_by(driver: TerminalDriver) -> object:
    """Return what comes: on a busy machine not within the first wait."""
    until = time.monotonic() + 5
    while (heard := driver.do(Receive(until))) is None:
        assert time.monotonic() < until
    return heard


def test_a_key_is_on_the_books_once_its_echo_is_shown(seat: Seat) -> None:
    echo = Output(2, b"a")

    linked = Linked(seat, lambda link: link.sendall(encode(echo)))

    (made,) = seat.attachment.open
    assert linked.sent == encode(made)
    assert linked.heard == echo
    assert seat.shown() == b"a"


def test_so_is_one_whose_holder_dies_of_it(seat: Seat) -> None:
    with pytest.raises(SessionUnreachable):
        Linked(seat, socket.socket.close)

    (made,) = seat.attachment.open
    assert made.payload == b"a"
    assert seat.attachment.resume() == [made]


def test_what_is_sent_ahead_is_what_would_be_sent(seat: Seat) -> None:
    for key in (b"a", b"b", b"\r", b"\x03"):
        foreseen = seat.view.foresee()
        assert foreseen is not None
        assert key not in foreseen.stops

        seat.view.sent(key)

        made = seat.attachment.open[-1]
        assert foreseen.before + key + foreseen.after == encode(made)
        assert made.payload == key
        assert seat.ticks() == []


def test_it_is_what_typing_sends(seat: Seat) -> None:
    foreseen = seat.view.foresee()
    assert foreseen is not None

    seat.view.typed(b"a")
    (made,) = seat.ticks()

    assert foreseen.before + b"a" + foreseen.after == encode(made)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "happens",
    [
        lambda seat: seat.view.typed(b"\x1d"),
        lambda seat: seat.view.typed(b"x"),
        lambda seat: seat.view.screen.say("something"),
        lambda seat: seat.hears(Resized(2, Cells(90, 24))),
        lambda seat: seat.onward.moves(Move(Go.SWITCH)),
        lambda seat: seat.view.typed(b"\x1dd"),
        lambda seat: setattr(seat.attachment, "is_stalled", True),
        lambda seat: [
            seat.attachment.submit(InputKind.KEYS, b"x") for _ in range(MAX_OPEN)
        ],
        lambda seat: (seat.hears(waiting(b"rm\r")), seat.view.typed(b"\x1da")),
    ],
)
def test_nothing_is_foreseen_where_something_else_may_come_of_a_key(
    seat: Seat, happens: Callable[[Seat], object]
) -> None:
    assert seat.view.foresee() is not None

    happens(seat)

    assert seat.view.foresee() is None


def test_who_only_watches_sends_nothing_ahead() -> None:
    seat = Seat(Mode.OBSERVE)

    assert seat.view.foresee() is None
    seat.close()


def test_another_turn_is_foreseen_anew(seat: Seat) -> None:
    before = seat.view.foresee()
    passed = TurnPassed(
        former=US,
        holder=OTHER,
        epoch=Epoch(4),
        reason="seized",
        dropped_inputs=0,
        dropped_bytes=0,
    )
    seat.hears(passed)

    after = seat.view.foresee()

    assert after is None or before != after


def test_an_echo_is_shown_once(seat: Seat) -> None:
    echo = Output(2, b"a")

    assert seat.view.show_ahead(encode(echo))
    assert seat.shown() == b"a"
    seat.hears(echo)

    assert seat.shown() == b""
    seat.hears(Output(3, b"b"))
    assert seat.shown() == b"b"


@pytest.mark.parametrize(
    "raw",
    [
        encode(Output(1, b"ab")),
        encode(Output(3, b"a")),
        encode(Gap(0, 2)),
        encode(Output(2, b"a")) * 2,
    ],
)
def test_nothing_but_what_follows_is_shown_ahead(seat: Seat, raw: bytes) -> None:
    assert not seat.view.show_ahead(raw)
    assert seat.shown() == b""


def test_what_waits_to_be_shown_comes_first(seat: Seat) -> None:
    seat.view.is_last = lambda: False
    seat.hears(Output(2, b"first "))

    assert not seat.view.show_ahead(encode(Output(8, b"then")))


def test_under_a_cover_nothing_is_shown_ahead(seat: Seat) -> None:
    seat.terminal.cover()

    assert not seat.view.show_ahead(encode(Output(2, b"a")))


def test_a_mode_that_is_shown_ahead_is_undone_too(seat: Seat) -> None:
    switch = Output(2, b"\x1b[?1000h")
    assert seat.view.show_ahead(encode(switch))
    seat.hears(switch)

    seat.terminal.leave_modes()

    assert b"\x1b[?1000l" in seat.shown()
