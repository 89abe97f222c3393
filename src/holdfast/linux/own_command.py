"""Puts the holdfast command on a session's PATH, if it is not there.

The folder in which it is installed may have much else in it, such as another Python,
which a session should not find. So a folder of our own has one link.
"""

import os
import sys

from holdfast.linux.stored import folders
from holdfast.model.errors import HoldfastError

NAME = "holdfast"


def folder(python: str = sys.executable) -> str:
    """Return a folder with our command and nothing else; '' if there is none.

    The command is that which was installed with `python`.
    """
    command = f"{os.path.dirname(python)}/{NAME}"  # noqa: PTH120  # a path would resolve links
    if not os.access(command, os.X_OK):
        return ""
    try:
        found = folders.owned(f"{folders.owned(folders.runtime_path())}/bin")
        _link(f"{found}/{NAME}", command)
    except (HoldfastError, OSError):
        return ""
    return found


def _link(path: str, target: str) -> None:
    # Replaced in one step: a session may be looking for it.
    if os.path.islink(path) and os.readlink(path) == target:  # noqa: PTH114, PTH115  # names are strings here
        return
    new = f"{path}.{os.getpid()}"
    os.symlink(target, new)  # noqa: PTH211  # ditto
    os.replace(new, path)  # noqa: PTH105  # ditto
