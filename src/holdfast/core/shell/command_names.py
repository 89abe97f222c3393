"""Programs that run another program, named in their words.

Some *carry* another command in their own words: `sudo rm x`. Some *hide* one in a
text or take it from their input: `eval 'rm x'`, `… | sh`.
"""

import re
from collections.abc import Sequence

from holdfast.core.policy.awk_programs import is_awk, is_plain

_CARRIER = re.compile(
    r"-|and|begin|builtin|busybox|chroot|command|doas|env|exec|find|flock|ionice"
    r"|ltrace|nice|nocorrect|noglob|nohup|not|nsenter|or|pkexec|run0|setpriv|setsid"
    r"|ssh|stdbuf|strace|su|sudo|systemd-run|taskset|time|timeout|toybox|unshare|watch"
)
"""Programs that run another one, which their own words name."""

_HIDER = re.compile(r"alias|eval|parallel|script|trap|xargs")
"""Programs that run, now or later, what one of their words or their input says."""

_INTERPRETER = re.compile(
    r"(?:ash|bash|csh|dash|fish|ksh|lua|node|perl|php|python|ruby|sh|tclsh|tcsh|zsh)"
    r"[0-9.]*"
)


_HARMLESS = ("--version",)
"""What an interpreter answers by itself."""


def carries_another(name: str, words: Sequence[str | None]) -> bool:
    """Tell whether a command may run another one that its words name."""
    # A first word that is not known may be any program, or none at all.
    is_unknown = bool(words) and words[0] is None
    return is_unknown or _CARRIER.fullmatch(name) is not None


def hides_another(name: str, words: Sequence[str | None]) -> bool:
    """Tell whether a command may run another one that is hidden in a text."""
    if is_awk(name):
        return not is_plain(words)
    if _HIDER.fullmatch(name):
        return True
    if tuple(words[1:]) == _HARMLESS:
        return False
    if _INTERPRETER.fullmatch(name) is None:
        return False
    # What is in a file or a module is somebody's program, as `make` is; what is
    # in an option or comes through a pipe was chosen with this very line.
    argument = words[1] if len(words) > 1 else "-"
    return argument is None or (argument.startswith("-") and argument != "-m")
