"""Notices about the policy of this host.

To compare two files takes no time, and every `holdfast ls` does it.
"""

from holdfast.linux.stored import folders


def is_policy_noteworthy() -> bool:
    """Tell whether the policy's file is not what was applied, or has plug-ins."""
    folder = folders.config_path()
    first, _, applied = _content(f"{folder}/host/policy").partition(b"\n")
    has_plugins = b'"plugins":""' not in first if first else False
    return _content(f"{folder}/policy.toml") != applied or has_plugins


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib is slow to load
            return file.read()
    except OSError:
        return b""
