"""The shell of a session that is started without a command.

It is the user's login shell. `/bin/sh` is what an account gets when nobody chose a
shell for it, and it cannot tell holdfast where a command begins and ends; so bash is
started in its place, where it is installed.

The command line loads this before anything else: it needs only `os`.
"""

import os

BASH = "/bin/bash"

UNCHOSEN = frozenset({"", "/bin/sh", "/usr/bin/sh"})
"""Login shells that nobody chose. `dash` by its own name was chosen, and stays."""


def default_shell(bash: str = BASH) -> str:
    """Return the program that `holdfast new` starts without a command."""
    shell = os.environ.get("SHELL") or _listed_shell()
    if shell in UNCHOSEN:
        return bash if os.access(bash, os.X_OK) else "/bin/sh"
    return shell


def _listed_shell() -> str:
    """Return the shell of the user's account; nothing for a user without one."""
    import pwd  # noqa: PLC0415  # only where no variable names the shell

    try:
        return pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:  # As in a container that was given a bare number.
        return ""
