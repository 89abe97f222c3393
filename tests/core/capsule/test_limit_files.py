import pytest

from holdfast.core.capsule.limit_files import (
    CPU,
    FIRST,
    MEMORY,
    PIDS,
    SECOND,
    Counter,
    Line,
    controllers,
    counted,
    counter,
    lifted,
    lines,
    mounted,
)
from holdfast.model.limits import NO_LIMITS, Limits

LIMITS = Limits(64 << 20, 1500, 50)
BYTES = str(64 << 20)


def test_only_what_is_limited_is_controlled() -> None:
    assert controllers(LIMITS) == (MEMORY, CPU, PIDS)
    assert controllers(Limits(pids=20)) == (PIDS,)
    assert controllers(NO_LIMITS) == ()


@pytest.mark.parametrize(
    ("version", "controller", "wanted"),
    [
        (FIRST, PIDS, [("pids.max", "50")]),
        (SECOND, PIDS, [("pids.max", "50")]),
        (
            FIRST,
            CPU,
            [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "150000")],
        ),
        (SECOND, CPU, [("cpu.max", "150000 100000")]),
        (
            FIRST,
            MEMORY,
            [("memory.limit_in_bytes", BYTES), ("memory.memsw.limit_in_bytes", BYTES)],
        ),
        (SECOND, MEMORY, [("memory.max", BYTES), ("memory.swap.max", "0")]),
    ],
)
def test_a_limit_is_written_as_the_kernel_wants_it(
    version: int, controller: str, wanted: list[tuple[str, str]]
) -> None:
    found = lines(version, controller, LIMITS)

    assert [(one.file, one.text) for one in found] == wanted


@pytest.mark.parametrize(
    ("version", "controller", "wanted"),
    [
        (FIRST, PIDS, [("pids.max", "max")]),
        (FIRST, CPU, [("cpu.cfs_quota_us", "-1")]),
        (SECOND, CPU, [("cpu.max", "max 100000")]),
        # In the first version, swap may not be limited to less than memory alone.
        (
            FIRST,
            MEMORY,
            [("memory.memsw.limit_in_bytes", "-1"), ("memory.limit_in_bytes", "-1")],
        ),
        (SECOND, MEMORY, [("memory.max", "max"), ("memory.swap.max", "max")]),
    ],
)
def test_a_limit_is_lifted(
    version: int, controller: str, wanted: list[tuple[str, str]]
) -> None:
    found = lifted(version, controller)

    assert [(one.file, one.text) for one in found] == wanted


def test_a_kernel_that_does_not_count_swap_is_no_trouble() -> None:
    needed = [one.is_needed for one in lines(FIRST, MEMORY, LIMITS)]

    assert needed == [True, False]
    assert Line("pids.max", "50") in lines(SECOND, PIDS, LIMITS)


def test_what_was_met_is_counted_where_the_kernel_counts_it() -> None:
    assert counter(FIRST, MEMORY) == Counter("memory.oom_control", "oom_kill")
    assert counter(SECOND, MEMORY) == Counter("memory.events", "oom_kill")
    assert counter(FIRST, PIDS) == Counter("pids.events", "max")
    assert counter(SECOND, CPU) is None


def test_a_counter_is_read_from_among_others() -> None:
    text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"

    assert counted(text, "oom_kill") == 3
    assert counted(text, "max") == 0
    assert counted("max many\n", "max") == 0
    assert counted("", "max") == 0


MOUNTS = """\
25 20 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
26 25 0:23 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
27 25 0:24 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
28 25 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
29 25 0:25 / /mnt/again rw - cgroup2 cgroup2 rw
30 25 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
short
31 25 0:26 / /odd rw - cgroup
"""
OWN = "9:name=systemd:/\n4:memory:/box/one\n1:cpu,cpuacct:/\n0::/user\nodd\n"


def test_each_controller_is_found_where_it_is_mounted() -> None:
    assert mounted(MOUNTS, OWN) == {
        CPU: (FIRST, "/", "/", "/sys/fs/cgroup/cpu"),
        MEMORY: (FIRST, "/box/one", "/box", "/sys/fs/cgroup/memory"),
        "": (SECOND, "/user", "/", "/sys/fs/cgroup/unified"),
    }


def test_a_machine_without_cgroups_has_none() -> None:
    assert mounted("", "") == {}
    assert mounted(MOUNTS, "") == {}
