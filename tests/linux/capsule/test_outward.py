import os
import socket
from collections.abc import Iterator

import pytest

from holdfast.linux import exec_filter, spawn
from holdfast.linux.capsule import outward
from holdfast.linux.capsule.enter import fork_inside
from holdfast.linux.capsule.start import Capsule, hold_leader
from holdfast.linux.capsule.trial import why_not
from holdfast.linux.capsule.view import View
from holdfast.model.geometry import DEFAULT_SIZE
from holdfast.model.preview_report import Tried

WHY = why_not()

pytestmark = pytest.mark.skipif(bool(WHY), reason=WHY)

QUESTION = bytes(12) + b"\x07example\x03com\0\0\1\0\1"


def made(*, own: bool) -> Iterator[Capsule]:
    view = View(
        (), is_root=exec_filter.is_privileged(), has_own_net=own, uid=os.getuid()
    )
    capsule = hold_leader(spawn.Leader(("/bin/sh",), "/", {}), view, DEFAULT_SIZE)
    yield capsule
    held = capsule.held
    for fd in (capsule.lifeline, capsule.master, capsule.first, held.word, held.report):
        os.close(fd)
    os.waitpid(capsule.record.first, 0)


@pytest.fixture
def capsule() -> Iterator[Capsule]:
    yield from made(own=True)


@pytest.fixture
def open_capsule() -> Iterator[Capsule]:
    yield from made(own=False)


def try_inside(capsule: Capsule) -> int:
    """Connect from inside; return 7 if everything outside refused at once."""
    pid = fork_inside(capsule.record, capsule.first)
    if pid == 0:
        refused = 0
        for family, to in (
            (socket.AF_INET, ("1.2.3.4", 443)),
            (socket.AF_INET6, ("2001:db8::1", 80)),
            (socket.AF_INET, ("127.0.0.1", 9)),
        ):
            with socket.socket(family) as link:
                link.settimeout(5)
                try:
                    link.connect(to)
                except ConnectionRefusedError:
                    refused += 1
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.sendto(QUESTION, ("10.0.0.53", 53))
        os._exit(7 if refused == 3 else 8)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def test_what_is_tried_is_refused_at_once_and_seen(capsule: Capsule) -> None:
    watch = outward.watch(capsule.record, capsule.first)

    assert try_inside(capsule) == 7

    seen = watch.close()
    assert seen.tried() == (
        Tried("tcp", "1.2.3.4:443"),
        Tried("tcp", "[2001:db8::1]:80"),
        Tried("name", "example.com"),
    )
    assert seen.left_out == 0


def test_it_can_be_watched_again(capsule: Capsule) -> None:
    outward.watch(capsule.record, capsule.first).close()
    watch = outward.watch(capsule.record, capsule.first)

    assert try_inside(capsule) == 7
    assert len(watch.close().tried()) == 3


def test_a_flood_is_counted_as_far_as_it_is_not_read(capsule: Capsule) -> None:
    watch = outward.watch(capsule.record, capsule.first)
    pid = fork_inside(capsule.record, capsule.first)
    if pid == 0:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            for _ in range(5000):
                try:
                    link.sendto(b"x", ("10.0.0.9", 7))
                except OSError:
                    continue
        os._exit(0)
    os.waitpid(pid, 0)

    seen = watch.close()

    assert seen.tried()[0][:2] == ("udp", "10.0.0.9:7")
    assert seen.left_out > 0


def test_the_machine_s_network_is_left_alone(open_capsule: Capsule) -> None:
    with pytest.raises(OSError, match="the machine's"):
        outward.watch(open_capsule.record, open_capsule.first)


def test_a_network_that_is_gone_cannot_be_watched(capsule: Capsule) -> None:
    gone = os.open("/dev/null", os.O_RDONLY)

    with pytest.raises(OSError, match=r"."):
        outward.watch(capsule.record, gone)
    os.close(gone)
