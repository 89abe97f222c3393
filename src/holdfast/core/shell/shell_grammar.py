r"""The shells, and which of them reads a line.

The same text is not the same line to every shell: `\x72m` is `rm` to fish and
`x72m` to bash; `ls &>x` writes a file in bash, and in dash starts `ls` in the
background. So whatever reads a line is told whose grammar it is to read it by. If
nobody knows, a line counts only if all of them read it alike.
"""

import enum


class Grammar(enum.StrEnum):
    """Whose grammar a line is read by."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    DASH = "dash"
    UNKNOWN = ""
    """One of them, or another: what they read differently cannot be told."""


KNOWN = (Grammar.BASH, Grammar.ZSH, Grammar.FISH, Grammar.DASH)
"""Those whose grammar is known."""


def grammar_of(program: str) -> Grammar:
    """Return the grammar of a shell by the name of its program."""
    name = program.rsplit("/", 1)[-1].removeprefix("-")
    # `sh` is another shell on every system: its file says which.
    return Grammar(name) if name in set(KNOWN) else Grammar.UNKNOWN
