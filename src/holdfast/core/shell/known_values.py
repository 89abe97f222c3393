r"""Variables whose values are known while a line is read.

`cat $HOME/x` and `cat ~/x` name the same file each time, if nobody has changed HOME.
A shell that tells its state says what HOME is at its prompt. That holds for a whole
line if nothing in the line can change it: HOME and IFS are named only where a value is
asked for, and no builtin is in it that sets what its words say, but as its only
command, whose words are read before it runs. Only a value counts
that no shell splits or expands, whatever its options are.

PWD is not among them: a shell keeps there what it was told, and it can be set.
"""

import re
from collections.abc import Mapping, Sequence

from holdfast.core.shell.shell_state import ShellState
from holdfast.core.shell.shell_words import MOVERS, SHIFTERS
from holdfast.core.shell.simple_command import Command

HOME = "HOME"

Values = Mapping[str, str]

_PLAIN = re.compile(r"(?:/[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]*)+", re.ASCII)
_IFS_OF_ZSH = " \t\n\\0"
"""What zsh has by itself, and how it tells a NUL."""

_ASKED = re.compile(r"\$HOME(?![A-Za-z0-9_])|\$\{HOME\}", re.ASCII)
_SETTING = (SHIFTERS - MOVERS) | {
    *("abbr", "argparse", "bind", "compgen", "complete", "coproc", "emit", "fc"),
    *("float", "getln", "getopts", "integer", "pcre_match", "print", "sched", "stat"),
    *("strftime", "sysopen", "sysread", "trap", "wait", "zformat", "zgetattr"),
    *("zparseopts", "zselect", "zstat", "zstyle"),
}
"""Builtins that may set a variable, or run what does."""


def known_values(state: ShellState | None) -> dict[str, str]:
    """Return the values that a shell puts into every line as they are."""
    if state is None:
        return {}
    home, ifs = state.environment.get(HOME, ""), state.environment.get("IFS", "")
    is_whole = ifs == _IFS_OF_ZSH or set(ifs).isdisjoint(home)
    return {HOME: home} if is_whole and _PLAIN.fullmatch(home) else {}


def may_hold(line: str, values: Values) -> bool:
    """Tell whether what is known may hold for a line, by its text."""
    rest = _ASKED.sub("", line)
    return bool(values) and HOME not in rest and "IFS" not in rest


def hold(commands: Sequence[Command]) -> bool:
    """Tell whether no command may change what is known before a value is put in."""
    is_one = len(commands) == 1 and not commands[0].again
    return is_one or not any(map(_may_set, commands))


def _may_set(command: Command) -> bool:
    first = command.words[0] if command.words else ""
    return first is None or first in _SETTING or command.carries
