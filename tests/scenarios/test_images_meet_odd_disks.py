"""A disk that is full or read-only costs an image, and no session."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.capsules import MOUNTING, Account, account

from holdfast.linux.criu import program

pytestmark = [
    pytest.mark.skipif(
        program.find().program is None, reason="there is no CRIU here: `make criu`"
    ),
    pytest.mark.skipif(os.getuid() != 0, reason="only root mounts disks"),
]

FULL = "size=1m,mode=700"


@contextlib.contextmanager
def disk(here: Account, options: str) -> Iterator[Path]:
    """Put a disk where images are."""
    folder = here.place / "run" / "state" / "images"
    folder.mkdir(mode=0o700, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(words, check=False, capture_output=True)
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)  # noqa: S607  # of the system


@pytest.mark.parametrize("how", [[], ["--stop"]], ids=["keep", "stop"])
def test_a_full_disk_leaves_a_session_as_it_was(how: list[str]) -> None:
    with account(0, MOUNTING) as here:
        here.new("box", "--capsule")
        here.run("box", "x=41; sleep 600 &")
        with disk(here, FULL) as images:
            here.ask("checkpoint", "box", *how, status=75)

            assert here.run("box", "echo $x; jobs -r | wc -l") == "41\n1\n"
            assert [*images.glob("*/[0-9]*")] == []
        here.ask("checkpoint", "box", *how)


def test_an_image_on_a_disk_that_is_read_only_goes_on() -> None:
    with account(0, MOUNTING) as here:
        here.new("box", "--capsule")
        here.run("box", "x=41")
        with disk(here, "mode=700") as images:
            here.ask("checkpoint", "box")
            here.ask("end", "box")
            words = ["mount", "-o", "remount,ro", str(images)]
            subprocess.run(words, check=True)
            here.ask("restore", "-d", "box")

            assert here.run("box", "echo $x") == "41\n"
            assert "read-only" in here.ask("checkpoint", "box", status=75).lower()
            assert here.run("box", "echo $x") == "41\n"
            here.ask("end", "box")
