"""A home folder without start-up files, for every shell that a test starts.

A shell reads its user's own files first. Some of those take a lock, and a test that
kills the shell leaves the lock behind: the next shell then waits a minute for it.
"""

import os
import shutil
import tempfile
from pathlib import Path

_KEPT = {
    "PIP_CONFIG_FILE": ".config/pip/pip.conf",
    "NPM_CONFIG_USERCONFIG": ".npmrc",
    "NPM_CONFIG_CACHE": ".npm",
}
"""What tools of the tests find in the real home, and the variables that say where."""


def move_in() -> Path:
    """Use an empty home from now on; return it, to be removed at the end."""
    for name, path in _KEPT.items():
        if (real := Path.home() / path).exists():
            os.environ.setdefault(name, str(real))
    made = Path(tempfile.mkdtemp(prefix="hfhome"))
    os.environ["HOME"] = str(made)
    return made


def move_out(home: Path) -> None:
    """Remove the home that `move_in` made."""
    shutil.rmtree(home, ignore_errors=True)
