import os
import subprocess
from pathlib import Path

from holdfast.linux import procfs
from holdfast.linux.procfs import read_stat


def test_a_process_is_read_as_the_kernel_has_it() -> None:
    found = read_stat(os.getpid())

    assert found is not None
    assert (found.pid, found.parent) == (os.getpid(), os.getppid())
    assert found.group == os.getpgrp()
    assert found.rss > procfs.PAGE
    assert found.cpu_ticks >= 0


def test_a_name_may_hold_anything(tmp_path: Path) -> None:
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/bin/sleep")
    process = subprocess.Popen([program, "99"])

    try:
        while not (command := procfs.command_of(process.pid)):
            pass  # It is being executed just now.
        found = read_stat(process.pid)

        assert found is not None
        assert (found.name, found.parent) == ("a) R 1 (b", os.getpid())
        assert command == f"{program} 99"
    finally:
        process.kill()
        process.wait()


def test_what_is_gone_reads_as_nothing() -> None:
    process = subprocess.Popen(["true"])  # noqa: S607
    process.wait()

    assert read_stat(process.pid) is None
    assert procfs.command_of(process.pid) == ""
    assert procfs.numbers(f"/proc/{process.pid}/fd") == []
    assert procfs.link(f"/proc/{process.pid}/exe") == ""


def test_a_long_table_is_read_to_its_end() -> None:
    whole = Path("/proc/self/smaps").read_bytes()

    assert len(procfs.read_table("/proc/self/smaps", 1 << 24)) > len(whole) // 2 > 4096
    assert procfs.read("/proc/self/smaps", 10) == whole[:10]


def test_every_state_has_a_word() -> None:
    assert procfs.state_word("T") == "stopped"
    assert procfs.state_word("?") == "other"
