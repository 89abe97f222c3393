import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.linux.capsule import trial

ALONE = (
    'mount --bind /dev/null /dev/null; mount --bind /dev/tty /dev/tty; exec "$0" "$@"'
)
"""As in a container, where each device is a mount of its own."""

COMING_AND_GOING = """
import ctypes, os, shutil, signal, sys
sys.path[:] = {path!r}
from holdfast.linux import own_files_trial
from holdfast.linux.capsule import trial
libc = ctypes.CDLL(None)
kinds = b"tmpfs", b"proc", b"devpts"
churning = os.fork()
while not churning:
    for kind in kinds:
        os.makedirs(kind)
        libc.mount(b"none", os.fsencode(os.getcwd()) + b"/" + kind, kind, 0, None)
    for kind in kinds:
        libc.umount2(os.fsencode(os.getcwd()) + b"/" + kind, 2)
        os.rmdir(kind)
try:
    print({{*(own_files_trial.why_not() for _ in range(12)), trial.why_not()}})
finally:
    os.kill(churning, signal.SIGKILL)
"""
"""Tries to make capsules beside somebody who mounts and unmounts without end."""

TRY = "from holdfast.linux.capsule import trial; print(trial.why_not())"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can bind a device")
def test_devices_that_are_mounts_of_their_own_can_be_used_inside() -> None:
    assert trial.why_not() == ""

    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", ALONE, sys.executable, "-c", TRY],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts disks")
def test_disks_that_come_and_go_meanwhile_are_not_in_the_way(tmp_path: Path) -> None:
    script = COMING_AND_GOING.format(path=sys.path)
    private = ["unshare", "--mount", "--propagation", "private"]
    place = {"HOLDFAST_RUNTIME_DIR": str(tmp_path / "run")}

    done = subprocess.run(
        [*private, sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **place, "HOLDFAST_CONFIG_DIR": str(tmp_path / "config")},
    )

    assert (done.stdout, done.stderr) == ("{''}\n", "")
