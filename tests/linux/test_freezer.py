import ctypes
import json
import mmap
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from tests.linux.trees import SESSION, ended, eventually, found, leader, stands

from holdfast.linux.freezer import (
    Frozen,
    Missed,
    Thawed,
    freeze,
    joined,
    signal_exactly,
    standing,
    thaw,
)
from holdfast.linux.process_table import Belonging, Tree, read_table

FAMILY = """
import os, signal
pids = [os.getpid()]
for number in range(5):
    pid = os.fork()
    if pid == 0:
        signal.pause()
    if number % 2:
        os.setpgid(pid, pid)
    pids.append(pid)
print(*pids, flush=True)
signal.pause()
"""

DAEMON = """
import os, signal
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writer, str(os.getpid()).encode())
        signal.pause()
    os._exit(0)
os.wait()
print(os.getpid(), os.read(reader, 20).decode(), flush=True)
signal.pause()
"""

STORM = """
import mmap, os, sys
book = mmap.mmap(os.open(sys.stdin.readline().strip(), os.O_RDWR), 8 * 256)
gate, opener = os.pipe()
for slot in range(200):
    if os.fork() == 0:
        os.close(opener)
        os.read(gate, 1)
        break
else:
    slot = 200
    os.close(opener)
while True:
    count = int.from_bytes(book[8 * slot : 8 * slot + 8], "little") + 1
    book[8 * slot : 8 * slot + 8] = count.to_bytes(8, "little")
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
"""

FIRST_THREAD_ENDS = """
import ctypes, os, threading, time
def count():
    print(os.getpid(), flush=True)
    while True:
        time.sleep(0.001)
threading.Thread(target=count).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_every_process_stands_still_and_goes_on_after_the_thaw() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()

        frozen = freeze(session.tree)
        assert (frozen.count, frozen.by, frozen.missed) == (6, "signals", ())
        assert all(map(stands, pids))

        assert thaw(frozen) == Thawed(6)
        eventually("all go on", lambda: not any(map(stands, pids)))


def test_a_storm_of_forks_comes_to_rest(tmp_path: Path) -> None:
    page = tmp_path / "counts"
    page.write_bytes(bytes(8 * 256))
    with leader(STORM) as session, page.open("rb") as file:
        counts = mmap.mmap(file.fileno(), 8 * 256, prot=mmap.PROT_READ)
        session.input.write(f"{page}\n".encode())
        session.input.flush()
        eventually(
            "all fork", lambda: all(any(counts[8 * n : 8 * n + 8]) for n in range(201))
        )

        frozen = freeze(session.tree)
        before = counts[:]
        for _ in range(20):
            read_table()
        assert frozen.missed == ()
        assert frozen.count >= 201
        assert counts[:] == before

        thaw(frozen)
        eventually("it goes on", lambda: counts[:] != before)
        family = Belonging(session.tree)
        assert not [one for one in family.find(read_table()) if one.state == "T"]


def test_a_daemon_that_left_terminal_and_parent_is_found_by_its_session() -> None:
    with leader(DAEMON) as session:
        _, daemon = session.pids()
        try:
            frozen = freeze(session.tree)
            assert (frozen.count, frozen.missed) == (2, ())
            assert stands(daemon)

            thaw(frozen)
            eventually("it goes on", lambda: not stands(daemon))
        finally:
            ended(daemon)


def test_a_daemon_is_found_when_its_leader_is_gone() -> None:
    with leader(DAEMON) as session:
        _, daemon = session.pids()
        os.kill(session.pid, signal.SIGKILL)
        eventually("it is gone", lambda: found(session.pid).is_dead)
        try:
            assert freeze(Tree.of(session.pid, SESSION)).count == 1
            assert stands(daemon)
        finally:
            ended(daemon)


def test_f1_what_job_control_had_stopped_stays_stopped() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        os.kill(pids[2], signal.SIGTSTP)
        eventually("it stops", lambda: stands(pids[2]))

        frozen = freeze(session.tree)
        assert frozen.count == 6
        assert thaw(frozen) == Thawed(5)
        eventually("the rest goes on", lambda: sum(map(stands, pids)) == 1)
        assert stands(pids[2])


def test_f2_a_number_that_passed_to_another_process_is_not_woken() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        frozen = freeze(session.tree)
        earlier = tuple((pid, started - 1) for pid, started in frozen.stopped)

        assert thaw(Frozen("signals", 6, (), earlier)) == Thawed(0)
        assert all(map(stands, pids))
        with pytest.raises(ProcessLookupError):
            signal_exactly(pids[0], found(pids[0]).started - 1, signal.SIGKILL)


def test_a_process_that_is_gone_does_not_hinder_the_thaw() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        frozen = freeze(session.tree)
        for pid in pids[1:3]:
            os.kill(pid, signal.SIGKILL)
        eventually("they are gone", lambda: found(pids[1]).is_dead)

        thaw(frozen)
        eventually("the rest goes on", lambda: not any(map(stands, pids[3:])))


def test_f3_a_process_of_another_user_is_named() -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be refused by becoming somebody else")
    with leader(FAMILY) as session:
        pids = session.pids()
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.setuid(65534)
            os.write(writer, json.dumps(freeze(session.tree).to_facts()).encode())
            os._exit(0)
        os.wait()
        frozen = Frozen.from_facts(json.loads(os.read(reader, 65536)))
        os.close(reader)
        os.close(writer)

    assert {one.pid for one in frozen.missed} == set(pids)
    assert {one.why for one in frozen.missed} == {"it runs as another user"}
    assert (frozen.count, frozen.stopped) == (0, ())


def test_f3_a_traced_process_is_named_with_its_tracer() -> None:
    seize, detach = 0x4206, 17
    trace = ctypes.CDLL(None, use_errno=True).ptrace
    with leader(FAMILY) as session:
        pids = session.pids()
        if trace(seize, pids[2], None, None) != 0:
            pytest.skip("nobody may trace here")
        try:
            frozen = freeze(session.tree)
        finally:
            trace(detach, pids[2], None, None)

    assert frozen.missed == (Missed(pids[2], f"process {os.getpid()} traces it"),)
    assert frozen.count == 5


def test_f4_the_record_is_kept_before_anything_is_stopped() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        kept: list[tuple[Frozen, bool]] = []

        def keep(frozen: Frozen) -> None:
            kept.append((frozen, any(map(stands, pids))))

        freeze(session.tree, keep=keep)

    first, had_begun = kept[0]
    assert not had_begun
    assert {pid for pid, _ in first.stopped} == set(pids)


def test_whoever_comes_after_thaws_by_the_record_alone() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        record = json.dumps(freeze(session.tree).to_facts())

        thaw(Frozen.from_facts(json.loads(record)))
        eventually("all go on", lambda: not any(map(stands, pids)))


def test_what_was_born_into_a_group_as_it_was_stopped_is_woken_with_it() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        frozen = freeze(session.tree)
        leaders = [one for one in frozen.stopped if os.getpgid(one[0]) == one[0]]
        assert len(leaders) < len(pids)

        thaw(replace(frozen, stopped=tuple(leaders)))
        eventually("all go on", lambda: not any(map(stands, pids)))


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"by": 1, "count": 0, "missed": [], "stopped": [], "cgroup": None},
        {"by": "signals", "count": 0, "missed": [], "stopped": [[1]], "cgroup": None},
    ],
)
def test_what_is_no_record_is_refused(facts: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not a record|unpack"):
        Frozen.from_facts(facts)


def test_two_freezes_are_thawed_as_one() -> None:
    with leader(FAMILY) as session:
        pids = session.pids()
        first = freeze(session.tree)
        os.kill(pids[4], signal.SIGCONT)
        eventually("it escapes", lambda: not stands(pids[4]))
        second = freeze(session.tree)
        assert [pid for pid, _ in second.stopped] == [pids[4]]

        assert thaw(joined(first, second)) == Thawed(6)


def runs(family: Belonging, name: str) -> bool:
    found = (Path(f"/proc/{one.pid}/comm") for one in family.find(read_table()))
    return f"{name}\n" in [path.read_text() for path in found]


def test_a_shell_does_not_notice_that_its_job_stood_still() -> None:
    with leader("set -m; echo $$; cat; echo done", "bash", "-c") as session:
        session.pids()
        family = Belonging(session.tree)
        eventually("cat runs", lambda: runs(family, "cat"))
        for _ in range(3):
            thaw(freeze(session.tree))
        session.input.write(b"said\n")
        session.input.close()

        assert session.output.read() == b"said\ndone\n"


def test_a_process_whose_first_thread_has_ended_is_stopped_too() -> None:
    with leader(FIRST_THREAD_ENDS) as session:
        session.pids()
        eventually("it ends", lambda: found(session.pid).state == "Z")
        assert not found(session.pid).is_dead
        assert not found(session.pid).is_stopped

        frozen = freeze(session.tree)
        assert (frozen.count, frozen.missed) == (1, ())
        assert found(session.pid).is_stopped


WAITS_FOR_ITS_CHILD = """
import ctypes, os, signal, sys, time
CLONE, CLONE_VFORK = 56, 0x4000
print(os.getpid(), flush=True)
if ctypes.CDLL(None).syscall(CLONE, CLONE_VFORK | signal.SIGCHLD, 0, 0, 0, 0) == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
print("on", flush=True)
time.sleep(99)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of a call")
def test_what_stops_only_when_its_wait_is_over_is_in_the_record() -> None:
    with leader(WAITS_FOR_ITS_CHILD) as made:
        (pid,) = made.pids()
        eventually("it waits for its child", lambda: found(pid).state == "D")
        eventually(
            "its child stands",
            lambda: any(
                one.parent == pid and one.is_stopped for one in read_table().values()
            ),
        )
        os.kill(pid, signal.SIGSTOP)

        record = standing(made.tree)
        thaw(record)

        assert found(pid).mark in record.stopped
        assert made.output.readline() == b"on\n"
