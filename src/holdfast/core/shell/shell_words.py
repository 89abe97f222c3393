"""The words that a shell itself knows.

A builtin is part of the shell: no file is looked for. Which words are builtins
differs from shell to shell and from version to version; those here are builtins in
every version that is still in use. A word that is missing here is looked for on
the PATH instead, as the shell would if it did not know it.
"""

_POSIX = (
    ". : [ alias bg break cd command continue echo eval exec exit export false fc fg"
    " getopts hash jobs kill printf pwd read readonly return set shift test times trap"
    " true type ulimit umask unalias unset wait"
)
_BASH = (
    "bind builtin caller compgen complete compopt declare dirs disown enable help"
    " history let local logout mapfile popd pushd readarray shopt source suspend"
    " typeset"
)
_ZSH = (
    "autoload bindkey builtin bye chdir declare dirs disable disown echotc echoti"
    " emulate enable float functions getln history integer let limit local log logout"
    " popd print pushd pushln r rehash sched setopt source stat suspend ttyctl typeset"
    " unfunction unhash unlimit unsetopt vared whence where which zcompile zle zmodload"
    " zparseopts zstyle"
)
_FISH = (
    ". : [ abbr and argparse bg bind block break breakpoint builtin cd command"
    " commandline complete contains continue count disown echo emit eval exec exit"
    " false fg function functions history jobs math not or printf pwd random read"
    " realpath return set set_color source status string test time true type"
    " ulimit wait"
)

BUILTINS: dict[str, frozenset[str]] = {
    "bash": frozenset(f"{_POSIX} {_BASH}".split()),
    "zsh": frozenset(f"{_POSIX} {_ZSH}".split()),
    "fish": frozenset(_FISH.split()),
}
"""The builtins of each shell that is integrated."""

KEYWORDS: dict[str, frozenset[str]] = {
    "bash": frozenset({"time"}),
    "zsh": frozenset({"time", "noglob", "nocorrect"}),
    "fish": frozenset({"time", "not", "and", "or"}),
}
"""Words after which a shell reads a command as if they were not there."""

SHIFTERS = frozenset(
    {
        *(".", "alias", "autoload", "builtin", "command", "declare", "disable"),
        *("emulate", "enable", "eval", "exec", "export", "function", "functions"),
        *("hash", "let", "local", "mapfile", "printf", "read", "readarray"),
        *("readonly", "rehash", "set", "setopt", "shopt", "source", "trap"),
        *("typeset", "unalias", "unfunction", "unhash", "unset", "unsetopt"),
        *("vared", "zmodload", "cd", "chdir", "popd", "pushd", "z"),
    }
)
"""Builtins after which the next command of the same line may mean another thing."""

INTERPRETERS = frozenset(
    {
        *("ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"),
        *("lua", "node", "perl", "php", "python", "python2", "python3", "ruby"),
        *("tclsh",),
    }
)
"""Programs whose first word that is no option names a script."""

SHELLS = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
"""Those whose `-c` is followed by a line like ours."""

SOURCING = frozenset({".", "source"})
"""Builtins that run a file in the shell itself."""

MOVERS = frozenset({"cd", "chdir", "popd", "pushd"})
"""Builtins that look their folder up by CDPATH."""
