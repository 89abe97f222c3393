"""After how long a session dozes, and what a holder that is woken finds."""

import os
import socket
from pathlib import Path

import pytest

from holdfast.core.book.inheritance import inherit
from holdfast.core.session.doze import Nap
from holdfast.core.session.left_behind import LeftBehind
from holdfast.core.session.paint_requests import Past
from holdfast.holder import birth, doze
from holdfast.holder.provenance import state_channel
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import processes
from holdfast.model.ids import Incarnation, SessionId
from holdfast.model.session_record import HeldRecord, SessionRecord

SESSION = SessionId("s_aaaaaaaaaaaaaaaa")
LEFT = LeftBehind(
    Nap(1.0, 30.0, 10, 20, 0.5),
    is_staged=False,
    painting=Past(is_whole=True, begin=0, sizes=(), kept=None),
)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("never", None),
        ("2.5", 2.5),
        (" 60 ", 60.0),
        ("0.000001", doze.LEAST),
        ("", doze.USUAL),
        ("soon", doze.USUAL),
        ("0", doze.USUAL),
        ("-3", doze.USUAL),
        ("nan", doze.USUAL),
        ("inf", doze.USUAL),
    ],
)
def test_the_keeper_s_environment_says_after_how_long(
    monkeypatch: pytest.MonkeyPatch, said: str, found: float | None
) -> None:
    monkeypatch.setenv(doze.SETTING, said)
    if found == doze.USUAL and not processes.tells_exits():
        found = None

    assert doze.patience() == found


def test_what_was_left_is_read_and_the_pipe_stays_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)
    memory = os.memfd_create("left")
    os.write(memory, LEFT.to_bytes())

    found = birth._left_behind(SESSION, [memory, pipe])  # noqa: SLF001

    assert found == LEFT
    assert state_channel._BORN.pop(SESSION) == pipe  # noqa: SLF001
    os.close(pipe)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(memory)


def test_what_other_code_has_left_is_done_without() -> None:
    memory = os.memfd_create("left")
    os.write(memory, b'{"format": 99}')

    assert birth._left_behind(SESSION, [memory]) is None  # noqa: SLF001
    assert birth._left_behind(SESSION, []) is None  # noqa: SLF001


def test_what_the_kernel_keeps_is_known_before_anybody_ends() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    pidfd = os.pidfd_open(pid)
    os.waitpid(pid, 0)

    assert (processes.exit_of(pidfd) == 7) is processes.tells_exits()
    os.close(pidfd)


def test_only_who_was_woken_says_nothing_in_the_book() -> None:
    found = inherit([], None, Incarnation(1))
    record, held = SessionRecord(SESSION), HeldRecord()
    memory = os.memfd_create("window")
    try:
        listener = socket.socket()
        dead = SessionDescriptors(record, held, 0, memory, listener, 0)
        woken = SessionDescriptors(record, held, 0, memory, listener, 0, woken=LEFT)
        listener.close()
    finally:
        os.close(memory)

    assert dead.continued(found, 0) is found
    assert woken.continued(found, 0).beginning is None
