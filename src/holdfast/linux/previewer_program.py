"""The command line that runs a preview for the gate, as the logged-in user.

The interpreter is isolated, and its variables are few: what a keeper was started with
may name an operator, and code of others.
"""

import os
import sys

from holdfast.linux.programs import ROOT

_RUN = "import sys; sys.path.insert(0, {root!r}); {run}"
_MAIN = "from holdfast.cli.main import main; sys.exit(main(sys.argv[1:]))"

_PASSED = ("HOME", "PATH", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "TMPDIR")
_FOLDERS = (
    *("HOLDFAST_RUNTIME_DIR", "HOLDFAST_STATE_DIR", "HOLDFAST_CONFIG_DIR"),
    *("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"),
)


def previewer_program(session: str, text: str, timeout: int) -> list[str]:
    """Return how a line is tried out, with what came of it as JSON."""
    words = ("run", "--preview", "--json", "--timeout", str(timeout), session)
    return own_program(*words, "--", text)


def own_program(*words: str) -> list[str]:
    """Return how our own command is run, with these words."""
    program = _RUN.format(root=ROOT, run=_MAIN)
    return [sys.executable, "-I", "-c", program, *words]


def previewer_environment() -> dict[str, str]:
    """Return the HOLDFAST variables that it is given."""
    names = (*_PASSED, *_FOLDERS)
    return {name: os.environ[name] for name in names if name in os.environ}
