"""The command lines of our own processes, started from the code we run ourselves.

Not `-m holdfast.…`: an isolated interpreter finds no package that is beside it, and a
painter has to be isolated. So it is told where the package is.

A judge is isolated too: what is in the current folder, in the user's own site-packages
or on a PYTHONPATH was put there by anyone who runs programs here, and must not pass for
a plug-in of the same name. Plug-ins are found where this package is installed, and in
one folder beside the policy.
"""

import os
import sys
from pathlib import Path

from holdfast.linux.stored import places

ROOT = str(Path(__file__).resolve().parents[2])
"""The folder that contains the package: new code starts new code."""

PASSED = (
    *("HOME", "PATH", "LANG", "LC_ALL", "TZ"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HOLDFAST_CONFIG_DIR", "XDG_CONFIG_HOME"),
)
"""Variables that a judge keeps: for its plug-ins, for the certificates that a
webhook is known by, and for the folder of the policy. None of them changes what
code is loaded, and none is a secret."""

_RUN = "import sys; sys.path.insert(0, {root!r}); {run}"

_PAINT = "from holdfast.painter.main import main; sys.exit(main())"

# Last on the path: no plug-in replaces one of holdfast's modules. And nothing
# is written into their folder, which is as it was when the policy was applied.
_JUDGE = (
    "sys.dont_write_bytecode = True; sys.path.append({plugins!r});"
    " from holdfast.judge.main import main; sys.exit(main())"
)


def painter_program() -> list[str]:
    """Return how a painter is started.

    Its standard input is the listening socket. Give it an empty environment,
    the root folder and a session of its own.

    Raises:
        UsageError: The place for sockets is not ours.

    """
    return _isolated(_PAINT)


def judge_program() -> list[str]:
    """Return how a judge is started.

    Its standard input is the listening socket. Give it `judge_environment`, the
    root folder and a session of its own.

    Raises:
        UsageError: The place for sockets, or for the policy, is not ours.

    """
    return _isolated(_JUDGE.format(plugins=str(places.plugin_dir())))


def judge_environment() -> dict[str, str]:
    """Return the HOLDFAST variables that a judge is given."""
    return {name: os.environ[name] for name in PASSED if name in os.environ}


def _isolated(run: str) -> list[str]:
    program = _RUN.format(root=ROOT, run=run)
    # The last word is for people who look at the list of processes.
    return [sys.executable, "-I", "-c", program, str(places.runtime_dir())]
