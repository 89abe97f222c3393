"""The user who is logged in, by the machine's list of users.

Not every user is on it: in a container a number is often all that there is.
"""

import os
import pwd


def name() -> str:
    """Return what the user is called; empty if nobody says."""
    found = _entry()
    return "" if found is None else found.pw_name


def home() -> str:
    """Return the user's folder."""
    found = _entry()
    return os.environ.get("HOME", "/") if found is None else found.pw_dir


def _entry() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwuid(os.getuid())
    except KeyError:
        return None
