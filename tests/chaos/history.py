"""What happened in a run, as lines of JSON: the calls, the answers and the faults.

A line is an object with `at`, seconds since the run began, and `do`, which says what
the other fields are. `checks` reads it and nothing else, so that a run can be judged
again later.
"""

import json
import threading
import time
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class History:
    """Writes lines, from any thread; whole ones, and in the order of their times."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self._lock = threading.Lock()
        self._began = time.monotonic()

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    def note(self, do: str, **fields: object) -> None:
        """Write down that something happened now."""
        with self._lock:
            line = {"at": round(self.now, 6), "do": do, **fields}
            self._file.write(json.dumps(line) + "\n")

    def close(self) -> None:
        """Write no more."""
        self._file.close()


def read(path: Path) -> list[Line]:
    """Return the lines of a history."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
