"""The code that a process of holdfast runs: its interpreter and its folder."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Code:
    """An interpreter, and the folder that contains the package it is to load."""

    python: str
    root: str

    def environment(self) -> dict[str, str]:
        """Return our environment, changed so that this code is found first."""
        others = [
            entry
            for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)
            if entry and not (Path(entry) / "holdfast").is_dir()
        ]
        path = os.pathsep.join([self.root, *others])
        return {**os.environ, "PYTHONPATH": path}

    def start(self, module: str, *words: str, fd: int) -> int:
        """Start a program of it, which has `fd`; return its pid. SIGCHLD collects it.

        Raises:
            OSError: There is no such interpreter, or no process or descriptor left.

        """
        started = subprocess.Popen(  # noqa: S603  # our own program
            [self.python, "-P", "-m", module, *words],
            pass_fds=[fd],
            stdin=subprocess.DEVNULL,
            env=self.environment(),
        )
        started.returncode = 0
        return started.pid


def present() -> Code:
    """Return the code that this process runs."""
    return Code(sys.executable, str(Path(__file__).resolve().parents[2]))
