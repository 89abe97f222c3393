import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux import exec_filter, spawn
from holdfast.linux.capsule.enter import fork_inside
from holdfast.linux.capsule.start import Capsule, begin_vacant, hold_leader
from holdfast.linux.capsule.trial import why_not
from holdfast.linux.capsule.view import View
from holdfast.model.geometry import DEFAULT_SIZE
from holdfast.model.session_record import CapsuleRecord

WHY = why_not()

pytestmark = pytest.mark.skipif(bool(WHY), reason=WHY)


@pytest.fixture(params=["host", "own"])
def capsule(request: pytest.FixtureRequest) -> Iterator[Capsule]:
    view = View(
        (),
        is_root=exec_filter.is_privileged(),
        has_own_net=request.param == "own",
        uid=os.getuid(),
    )
    made = hold_leader(spawn.Leader(("/bin/sh",), "/", {}), view, DEFAULT_SIZE)
    yield made
    held = made.held
    for fd in (made.lifeline, made.master, made.first, held.word, held.report):
        os.close(fd)
    os.waitpid(made.record.first, 0)


def test_a_process_is_forked_into_every_namespace(capsule: Capsule) -> None:
    pid = fork_inside(capsule.record, capsule.first)
    if pid == 0:
        kinds = ("pid", "mnt", "ipc", "net", "user")
        own = [Path(f"/proc/self/ns/{kind}").readlink() for kind in kinds]
        others = [Path(f"/proc/{4}/ns/{kind}").readlink() for kind in kinds]
        os._exit(7 if own == others else 8)

    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 7


def test_its_end_by_a_signal_is_told(capsule: Capsule) -> None:
    pid = fork_inside(capsule.record, capsule.first)
    if pid == 0:
        os.kill(os.getpid(), signal.SIGKILL)

    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGKILL


def test_a_capsule_that_is_gone_cannot_be_entered(capsule: Capsule) -> None:
    signal.pidfd_send_signal(capsule.first, signal.SIGKILL)
    os.waitid(os.P_PIDFD, capsule.first, os.WEXITED | os.WNOWAIT)
    pid = fork_inside(capsule.record, capsule.first)
    if pid == 0:
        os._exit(0)

    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 127


def test_one_that_has_just_been_made_counts_on_from_where_it_was_told_to() -> None:
    view = View((), is_root=exec_filter.is_privileged(), uid=os.getuid())
    made, awaited = begin_vacant(view, DEFAULT_SIZE, counter=300)
    record = CapsuleRecord(first=made.pid, rootless=not view.is_root, net="host")
    pid = fork_inside(record, made.first)
    if pid == 0:
        os._exit(os.getpid() - 300)

    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 1
    awaited.wait()
    made.drop()
