import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.support.operating import be_known

from holdfast.client.connection import Connection
from holdfast.client.current_operator import ourselves
from holdfast.client.own_name import VARIABLE
from holdfast.core.client.holder_link import Credentials
from holdfast.crypto.local_proof import local_proof
from holdfast.model.errors import (
    HoldfastError,
    MalformedName,
    NoCommonVersion,
    NotProven,
    SessionUnreachable,
    UnexpectedMessage,
    UnknownFrameKind,
)
from holdfast.model.ids import session_id
from holdfast.wire.codec import Message, decode, encode, refusal
from holdfast.wire.frames import FrameKind, FrameReader
from holdfast.wire.messages import (
    Challenge,
    ClientKind,
    Goodbye,
    Identify,
    Ping,
    Pong,
    Welcome,
)

SESSION = session_id(b"0123456789")
WELCOME = encode(Welcome(1, "test"))
NONCE = b"n" * 32
CHALLENGE = encode(Challenge(NONCE))
Listen = Callable[..., Path]


class Holder:
    """Says what it is told to, and notes what it hears."""

    def __init__(self, path: Path, says: bytes, *, hangs_up: bool) -> None:
        self.heard: list[Message] = []
        self.hung_up = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen()
        self.thread = threading.Thread(target=self._serve, args=(says, hangs_up))
        self.thread.start()

    def _serve(self, says: bytes, hangs_up: bool) -> None:  # noqa: FBT001  # a thread's
        link, _ = self.listener.accept()
        reader = FrameReader()
        link.sendall(says)
        if hangs_up:
            link.shutdown(socket.SHUT_WR)
        with link:
            while raw := link.recv(65536):
                self.heard += map(decode, reader.feed(raw))

    def close(self) -> None:
        self.thread.join()
        self.listener.close()


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        be_known(Path(folder), monkeypatch)
        yield Path(folder) / "s.sock"


def test_whoever_is_challenged_proves_who_they_are(path: Path) -> None:
    holder = Holder(path, WELCOME + CHALLENGE, hangs_up=False)

    Connection.open(SESSION, path).close()

    holder.close()
    us = ourselves()
    proof = local_proof(us.token(), SESSION, NONCE)
    assert holder.heard[1:] == [Identify(us.actor.id, proof)]


def test_whoever_is_not_believed_is_told_so(path: Path) -> None:
    no = encode(refusal(NotProven("a_x"), FrameKind.IDENTIFY))
    holder = Holder(path, WELCOME + CHALLENGE + no, hangs_up=False)

    with Connection.open(SESSION, path) as link, pytest.raises(NotProven):
        link.receive(5.0)

    holder.close()


def test_without_a_name_nobody_is_greeted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "../x")

    with pytest.raises(MalformedName):
        Connection.open(SESSION, path)


def test_a_question_is_answered_and_not_returned(path: Path) -> None:
    says = WELCOME + CHALLENGE + encode(Ping(7)) + encode(Pong(8))
    holder = Holder(path, says, hangs_up=False)

    with Connection.open(SESSION, path) as link:
        assert link.receive(5.0) == Pong(8)
        assert link.receive(0.01) is None
        assert link.receive(0) is None
        assert not link.pending

    holder.close()
    assert holder.heard[2:] == [Pong(7)]


@pytest.mark.parametrize(
    ("says", "error"),
    [
        (b"", SessionUnreachable),
        (WELCOME[:-1], SessionUnreachable),
        (encode(Welcome(9, "future")), NoCommonVersion),
        (encode(Goodbye("no-common-version", "9")), NoCommonVersion),
        (encode(Goodbye("busy", "later\x1b")), SessionUnreachable),
        (encode(Pong(1)), UnexpectedMessage),
        (WELCOME, SessionUnreachable),
        (WELCOME + encode(Pong(1)), UnexpectedMessage),
        (b"\xff" * 9, UnknownFrameKind),
    ],
)
def test_a_greeting_that_is_none_is_an_error(
    says: bytes, error: type[HoldfastError], path: Path
) -> None:
    holder = Holder(path, says, hangs_up=True)

    with pytest.raises(error) as raised:
        Connection.open(SESSION, path)

    assert "\x1b" not in str(raised.value)
    holder.close()


def test_silence_is_not_waited_for_for_ever(path: Path) -> None:
    holder = Holder(path, b"", hangs_up=False)

    with pytest.raises(SessionUnreachable):
        Connection.open(SESSION, path, patience=0.05)

    holder.close()


def test_a_holder_that_hangs_up_is_an_error_to_whoever_listens(path: Path) -> None:
    holder = Holder(path, WELCOME + CHALLENGE, hangs_up=True)

    with Connection.open(SESSION, path) as link, pytest.raises(SessionUnreachable):
        link.receive(5.0)

    holder.close()


def test_nobody_there_is_an_error_after_a_while(path: Path) -> None:
    with pytest.raises(SessionUnreachable):
        Connection.open(SESSION, path, patience=0.03)


def test_writing_to_nobody_is_an_error(path: Path) -> None:
    ours, theirs = socket.socketpair()
    theirs.close()

    us = Credentials(ourselves().actor.id, ClientKind.CLI, bytes)

    with Connection(SESSION, ours, us) as link, pytest.raises(SessionUnreachable):
        link.send(Pong(1))
    assert not path.exists()
