"""Which program is a process of ours, started from the code we run ourselves?

Not `-m holdfast.…`: an isolated interpreter finds no package that lies beside
it, and a painter is to be isolated. So it is told where the package is.
"""

import sys
from pathlib import Path

from holdfast.linux import places

ROOT = str(Path(__file__).resolve().parents[2])
"""The folder that contains the package: new code starts new code."""

_RUN = "import sys; sys.path.insert(0, {root!r}); {run}"

_PAINT = "from holdfast.painter.main import main; sys.exit(main())"

_JUDGE = "from holdfast.judge.main import main; sys.exit(main())"


def painter_program() -> list[str]:
    """Return how a painter is started.

    Its standard input is the listening socket. Give it an empty environment,
    the root folder and a session of its own.

    Raises:
        UsageError: The place for sockets is not ours.

    """
    run = _RUN.format(root=ROOT, run=_PAINT)
    # The last word is for people who look at the list of processes.
    return [sys.executable, "-I", "-c", run, str(places.runtime_dir())]


def judge_program() -> list[str]:
    """Return how a judge is started.

    Its standard input is the listening socket. Give it an empty environment,
    the root folder and a session of its own.
    """
    return [sys.executable, "-I", "-c", _RUN.format(root=ROOT, run=_JUDGE)]
