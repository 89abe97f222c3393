"""Limits that the kernel keeps, with real cgroups and real processes."""

import contextlib
import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux import cgroups, limits
from holdfast.linux.limits import Limited, Made
from holdfast.model.errors import CannotLimit
from holdfast.model.limits import Limits

SESSION = f"s_test{os.getpid()}"

needs_cgroups = pytest.mark.skipif(
    bool(limits.why_not()), reason="nothing can be limited here"
)


@contextlib.contextmanager
def made(wanted: Limits) -> Iterator[Made]:
    found = limits.make(SESSION, wanted)
    try:
        limits.apply(found.limited, wanted)
        yield found
    finally:
        limits.close(found.handles)
        limits.remove(found.limited)


def inside(found: Made, work: str) -> int:
    """Run Python within limits; return how it ended."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            limits.join(found.handles)
            os.execv(sys.executable, [sys.executable, "-c", work])  # noqa: S606  # that is it
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@needs_cgroups
def test_a_program_that_needs_more_memory_is_killed_and_counted() -> None:
    with made(Limits(memory=32 << 20)) as found:
        meter = limits.Meter(found.limited)
        before = meter.read()

        status = inside(found, "x = bytearray(200 << 20)")

        assert status == -9
        assert select.select([meter], [], [], 10)[0]
        assert meter.read()["memory"] == before["memory"] + 1
        meter.close()


@needs_cgroups
def test_a_program_that_forks_too_much_is_refused_and_counted() -> None:
    bomb = (
        "import os, time\nfor _ in range(100):\n"
        " if not os.fork(): time.sleep(0.3); os._exit(0)\n"
    )
    with made(Limits(pids=20)) as found:
        meter = limits.Meter(found.limited)

        assert inside(found, bomb) == 1
        assert meter.is_silent or select.select([meter], [], [], 10)[0]
        assert meter.read()["pids"] >= 1
        meter.close()
        while (Path(found.limited[0].folder) / "cgroup.procs").read_text():
            pass  # They sleep for a moment, and are not ours to wait for.


@needs_cgroups
def test_a_program_gets_as_much_of_a_processor_as_it_may_have() -> None:
    work = (
        "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass\n"
        "import sys; sys.exit(time.process_time() > 0.7)"
    )
    with made(Limits(millicpus=200)) as found:
        assert inside(found, work) == 0


@needs_cgroups
def test_what_was_limited_is_known_again_from_its_record() -> None:
    with made(Limits(memory=1 << 30, pids=100)) as found:
        texts = [one.text for one in found.limited]

        assert limits.recorded(texts) == found.limited
    assert limits.recorded(["", "memory:3:/x", "x:1:/x", "pids:1:x"]) == ()
    assert not any(Path(one.folder).exists() for one in found.limited)


@needs_cgroups
def test_a_limit_of_an_earlier_life_is_lifted_first() -> None:
    with made(Limits(pids=20)) as found:
        again = limits.make(SESSION, Limits(pids=500))

        limits.close(again.handles)
        assert again.limited == found.limited
        assert Path(found.limited[0].folder, "pids.max").read_text() == "max\n"


@needs_cgroups
def test_what_nobody_uses_any_more_is_swept() -> None:
    found, handles = limits.make(SESSION, Limits(memory=1 << 30, pids=100))
    limits.close(handles)

    sweep()

    assert not any(Path(one.folder).exists() for one in found)


@needs_cgroups
def test_what_something_is_about_to_join_is_not_swept() -> None:
    with made(Limits(memory=1 << 30, millicpus=1000, pids=100)) as found:
        sweep()

        assert inside(found, "pass") == 0
        assert all(Path(one.folder).exists() for one in found.limited)


def sweep() -> None:
    limits.sweep()
    if (ground := cgroups.ground().folder) is not None:
        cgroups.sweep(ground)


def test_cgroups_that_are_gone_cannot_be_joined() -> None:
    gone = Limited("pids", 1, "/sys/fs/cgroup/nothing-here")

    with pytest.raises(CannotLimit, match="processes cannot be limited"):
        limits.apply([gone], Limits(pids=20))
    meter = limits.Meter([gone])
    assert meter.read() == {}
    meter.close()
    limits.remove([gone])


def test_who_may_make_no_cgroup_is_told_why() -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be somebody else")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgid(65534)
        os.setuid(65534)
        cgroups.ground.cache_clear()
        os.write(writer, limits.why_not().encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    said = os.read(reader, 1000).decode()
    os.close(reader)

    assert "cannot be limited: Permission denied" in said
