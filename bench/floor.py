"""The floor of output and echo: two processes in C that only carry bytes.

What it takes is the kernel's part, which no terminal multiplexer of two processes can
be below. Shown beside our figures and tmux's, it says how much of them is ours.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).with_name("relay_floor.c")


class Floor:
    """The program, built for one run."""

    def __init__(self, program: Path) -> None:
        self._program = str(program)

    @classmethod
    def built(cls, folder: Path) -> "Floor | None":
        """Return the program, or None where nothing can build it."""
        compiler = shutil.which("cc")
        if compiler is None:
            return None
        program = folder / "relay_floor"
        words = [compiler, "-O2", "-o", str(program), str(SOURCE), "-lutil"]
        built = subprocess.run(words, check=False, capture_output=True)  # noqa: S603  # our own
        return cls(program) if built.returncode == 0 else None

    def showing(self, *command: str) -> list[str]:
        """Return how a command is shown on the terminal that this is started on."""
        return [self._program, "show", *command]

    @contextmanager
    def keeping(self, *command: str) -> Iterator[None]:
        """Read what a command prints, with nobody attached."""
        words = [self._program, "keep", *command]
        with subprocess.Popen(words, start_new_session=True) as reader:  # noqa: S603  # our own
            try:
                yield
            finally:
                os.kill(reader.pid, signal.SIGKILL)  # Its terminal hangs up.
