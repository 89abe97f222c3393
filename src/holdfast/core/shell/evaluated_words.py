"""Words of a builtin that the shell itself may run as code.

Some builtins work out a word as a sum or as an element of an array, and `$(…)` inside
of it runs: `test -v 'a[$(rm)]'`. In a sum a bare name stands for what the variable
holds, and that is evaluated in turn: `let x` runs whatever is in `x`.
"""

import re
from collections.abc import Iterable, Sequence

from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.shell_lexeme import Lexeme

_NAMING = frozenset(
    {
        *("declare", "export", "getopts", "let", "local", "mapfile", "printf"),
        *("read", "readarray", "readonly", "test", "typeset", "unset", "wait", "["),
    }
)
_EVALUATORS = {
    Grammar.BASH: _NAMING,
    Grammar.ZSH: _NAMING
    | {
        *("bg", "break", "continue", "disown", "exit", "fg", "float", "integer"),
        *("kill", "logout", "print", "return", "sched", "set", "shift", "ulimit"),
        *("vared", "zformat", "zparseopts", "zstyle"),
    },
    Grammar.DASH: frozenset[str](),
}
"""Builtins that evaluate a word."""

_SUMS = {
    Grammar.BASH: frozenset({"let"}),
    Grammar.ZSH: frozenset(
        {
            *("break", "continue", "exit", "float", "integer", "let", "logout"),
            *("return", "shift"),
        }
    ),
}
"""Those to which every word is a sum."""

_DECLARING = frozenset({"declare", "export", "local", "readonly", "typeset"})
_OF_NUMBERS = re.compile(r"[-+].*[iEF]")
"""An option of theirs by which a value is one."""

_ASKING = frozenset({"-v", "-R"})
_COMPARING = {
    Grammar.BASH: frozenset[str](),
    Grammar.ZSH: frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-t"}),
}
"""What `test` has to be asked to evaluate a word: an array, or a sum beside it."""

_TEXTS_ONLY = re.compile(r"(?>[^-%\\]|(?<=.)-|\\[\\abefnrtv]|%[-0-9. ]*[%bcqs])*+")
"""A format of `printf` that takes nothing for a number; an option is none."""

_FORMAT = re.compile(r"-[^-]*f")
"""An option by which `print` has a format."""

_HAS_NAME = re.compile(r"[A-Za-z_]")


_BEFORE = frozenset({"-", "builtin", "command", "exec", "nocorrect", "noglob", "time"})
"""Words that a builtin may stand behind."""


def may_run_a_word(words: Sequence[Lexeme], grammar: Grammar) -> bool:
    """Tell whether a command may be a builtin that runs what a word says."""
    words = _behind(words)
    first = words[0].text if words else None
    if first is None or first not in _EVALUATORS[grammar]:
        return False
    rest = words[1:]
    if first in ("test", "["):
        return _may_test(rest, grammar)
    if first == "printf" and grammar is Grammar.BASH:
        rest = rest if _is_option(rest) else []
    return any(map(_may_be_evaluated, rest)) or any(
        map(_has_name, _sums(first, rest, grammar))
    )


def _behind(words: Sequence[Lexeme]) -> Sequence[Lexeme]:
    for place, word in enumerate(words):
        is_option = place > 0 and (word.text or "").startswith("-")
        if word.text not in _BEFORE and not is_option:
            return words[place:]
    return []


def _may_test(rest: Sequence[Lexeme], grammar: Grammar) -> bool:
    comparing = _COMPARING[grammar]
    if not {word.text for word in rest} & (_ASKING | comparing):
        return not all(map(_is_one, rest))
    sides = [
        other
        for place, word in enumerate(rest)
        if word.text in comparing
        for other in (*rest[max(place - 1, 0) : place], *rest[place + 1 : place + 2])
    ]
    return any(map(_may_be_evaluated, rest)) or any(map(_has_name, sides))


def _sums(first: str, rest: Sequence[Lexeme], grammar: Grammar) -> Iterable[Lexeme]:
    """Return the words that are worked out as sums."""
    if first in _SUMS[grammar]:
        return rest
    if first in _DECLARING:
        is_sum = any(_OF_NUMBERS.match(word.text or "") for word in rest)
        return [word for word in rest if is_sum and not _is_option([word])]
    if grammar is not Grammar.ZSH:
        return []
    if first == "printf" and rest:
        is_text = _TEXTS_ONLY.fullmatch(rest[0].text or "%")
        return [] if is_text else rest[not _is_option(rest) :]
    has_format = any(_FORMAT.match(word.text or "") for word in rest)
    return rest if first == "print" and has_format else []


def _is_one(word: Lexeme) -> bool:
    return word.open is None or word.open.is_one


def _is_option(words: Sequence[Lexeme]) -> bool:
    """Tell whether the first word may be an option, such as `printf -v`."""
    text = words[0].text if words else None
    return text is None or text.startswith("-")


def _may_be_evaluated(word: Lexeme) -> bool:
    return word.open is not None or any(
        "[" in text and text != "[" for text in word.texts
    )


def _has_name(word: Lexeme) -> bool:
    return any(_HAS_NAME.search(text) for text in word.texts)
