"""The code that a process of holdfast runs: its interpreter and its folder."""

import os
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


def present() -> Code:
    """Return the code that this process runs."""
    return Code(sys.executable, str(Path(__file__).resolve().parents[2]))
