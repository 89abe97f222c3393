"""The files that the words of a command may name.

Theory of operation
-------------------
A program takes its words for what it likes, and nobody has a table of all programs.
So every word counts that could name a file, in every way it could:

    src/a.py                 the word itself
    of=build/x  @a  HEAD:a   also what follows `=`, `@`, `:` or `,`
    --output=build/x         what follows them in a long option
    -obuild/x  -ro  -C..     every end of a word that begins with one dash
    *.py  src/*/a.py         every entry of the folder that begins and ends so

The first word counts if it has a slash: it is a program then, by its path. What may
become anything, with slashes (`$X`, `$(…)`), may name any file: then there is no
answer; nor is there of a program for `sed` or `awk` that could name one. Words that
are patterns, dates or scripts count as well, which does no harm: a name of no file
leads nowhere but into its folder. Where another command of the line may make links
(line_effects), whatever is named may be any file.

Invariants, checked by tests/core/policy/test_named_paths.py:

I1  Every end of a word that a program could take for a path is among those named.
I2  No more than MAX_NAMED are named for a command; if there are more, all may be.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from holdfast.core.policy import awk_programs, sed_scripts
from holdfast.core.policy.command_words import words_of
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.simple_command import Command, Redirection, Way
from holdfast.model.policy_questions import NamedPath

MAX_NAMED = 512
"""Paths that are looked up for one command: each is a handful of system calls."""

_BORDER = re.compile(r"[=@:,]")


def named_paths(command: Command) -> tuple[NamedPath, ...] | None:
    """Return what the words of a command may name; None if that may be anything."""
    words = words_of(command)
    first, rest = words[:1], words[1:]
    if first and isinstance(first[0], str) and _is_programmed(first[0], command):
        return None
    counted = [one for one in first if not isinstance(one, str) or "/" in one] + rest
    return _seen_from(command, [end for word in counted for end in _ends(word)])


def read_paths(command: Command) -> tuple[NamedPath, ...] | None:
    """Return from which files input is redirected; None if that may be anything."""
    ways = (Way.READ, Way.BOTH)
    return _targets(command, [one for one in command.redirections if one.way in ways])


def written_paths(command: Command) -> tuple[NamedPath, ...] | None:
    """Return to which files output is redirected; None if that may be anything."""
    return _targets(command, [one for one in command.redirections if one.writes])


def every_path(commands: Iterable[Command]) -> tuple[NamedPath, ...]:
    """Return everything that the commands of a line name, as far as it is known."""
    found = (
        paths
        for command in commands
        for paths in (named_paths(command), read_paths(command), written_paths(command))
    )
    return tuple(dict.fromkeys(one for paths in found for one in paths or ()))


def listed(folder: str, word: OpenWord) -> NamedPath | None:
    """Return what a word stands for that is made of names of files; None if not."""
    return None if word.files is None else NamedPath(folder, *word.files)


def _is_programmed(first: str, command: Command) -> bool:
    """Tell whether a command has a program in its words that may name any file."""
    name = first.rsplit("/", 1)[-1]
    if name in ("sed", "gsed"):
        return not sed_scripts.is_plain(command.words)
    return awk_programs.is_awk(name) and not awk_programs.is_plain(command.words)


def _targets(
    command: Command, redirections: Sequence[Redirection]
) -> tuple[NamedPath, ...] | None:
    harmful = [one for one in redirections if not one.is_harmless]
    words = [_word(one.target, one.open) for one in harmful]
    return _seen_from(command, words)


def _seen_from(
    command: Command, words: Sequence[str | OpenWord]
) -> tuple[NamedPath, ...] | None:
    if not words:
        return ()
    if command.relinked:
        return None
    pairs = product(command.folders, words)
    found = [_named(folder, word) for folder, word in pairs]
    known = [one for one in found if one is not None]
    if len(known) < len(found) or not command.folders or len(known) > MAX_NAMED:
        return None
    return tuple(dict.fromkeys(known))


def _named(folder: str, word: str | OpenWord) -> NamedPath | None:
    return NamedPath(folder, word) if isinstance(word, str) else listed(folder, word)


def _word(text: str | None, shape: OpenWord | None) -> str | OpenWord:
    return (shape or ANYTHING) if text is None else text


def _ends(word: str | OpenWord) -> Iterator[str | OpenWord]:
    if isinstance(word, OpenWord):
        yield word
        return
    if word.startswith("-") and not word.startswith("--"):
        for start in range(2, len(word)):
            yield word[start:]
        return
    if not word.startswith("-"):
        yield word
    for border in _BORDER.finditer(word):
        if end := word[border.end() :]:
            yield end
