"""Programs that run another program, named in their words.

Some *carry* another command in their own words: `sudo rm x`. Some *hide* one in a
text or take it from their input: `eval 'rm x'`, `… | sh`.
"""

import re
from collections.abc import Sequence

from holdfast.core.policy import sed_scripts
from holdfast.core.policy.awk_programs import is_awk, is_plain

_CARRIER = re.compile(
    r"-|abduco|and|autossh|begin|builtin|busybox|bwrap|cgexec|choom|chpst|chroot|chrt"
    r"|command|daemonize|dbus-run-session|doas|dtach|dumb-init|eatmydata|entr|env|envdir"
    r"|exec|fakeroot|faketime|find|firejail|flock|gdb|gosu|i386|ionice|ld[-.].*so.*"
    r"|linux(?:32|64)|ltrace|machinectl|mosh|nice|nocorrect|noglob|nohup|not|nsenter"
    r"|numactl|or|perf|pkexec|prlimit|proot|proxychains4?|pssh|rlwrap|run0|runuser"
    r"|setarch|setpriv|setsid|setuidgid|sg|softlimit|ssh|sshpass|start-stop-daemon"
    r"|stdbuf|strace|su|su-exec|sudo|systemd-inhibit|systemd-run|taskset|time|timelimit"
    r"|timeout|tini|torsocks|toybox|uclampset|unbuffer|unshare|valgrind|watch|watchexec"
    r"|x86_64|xvfb-run"
)
"""Programs that run another one, which their own words name."""

_HIDER = re.compile(
    r"abbr|add-zsh-hook|alias|bind|bindkey|commandline|compgen|complete|emulate|eval|fc"
    r"|hyperfine|mapfile|parallel|readarray|sched|screen|script|tmux|trap|xargs|zpty"
)
"""Programs that run, now or later, what one of their words or their input says."""

_SED = ("sed", "gsed")

_INTERPRETER = re.compile(
    r"(?:ash|bash|bun|csh|dash|deno|elvish|expect|fish|guile|ipython|julia|ksh|lua|mksh"
    r"|node|nu|octave|perl|php|pwsh|pypy|python|R|rbash|Rscript|ruby|sh|tclsh|tcsh|xonsh"
    r"|zsh)[0-9.]*"
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
    if name in _SED:
        return not sed_scripts.is_plain(words)
    if _HIDER.fullmatch(name):
        return True
    if tuple(words[1:]) == _HARMLESS:
        return False
    if _INTERPRETER.fullmatch(name) is None:
        return False
    # What is in a file or a module is a program like any other, as `make` is; what is
    # in an option or comes through a pipe was chosen with this very line.
    argument = words[1] if len(words) > 1 else "-"
    return argument is None or (argument.startswith("-") and argument != "-m")
