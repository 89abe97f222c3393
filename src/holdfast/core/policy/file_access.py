"""Whether the files of a command match a rule: yes, no, or undecidable.

Theory of operation
-------------------
These keys say of a rule about words where its programs may reach, so that what only
looks cannot write, and what writes stays in its folders.

    key       to allow                                 to deny or to ask
    without   none of these options is given           the same
    sets      nothing else is set for the command      -
    paths     every file that a word may name, or that  some file that a word names, or
              input comes from, lies in these folders   one that lies in it
    writes    every file that output goes to does       some file that output goes to

Where a path leads is looked up before the rules are asked (`Question.paths`), every
link followed, as things are now. What was not looked up may lead anywhere.

An option is found however it is spelled: `-o`, `-ofile`, `-ro`, `--output`,
`--output=file`, `--outp`. What may become an option counts as one that may be given.

No rule that allows covers the folders in which holdfast itself keeps keys, policy and
records, whatever the rule says.

Invariants, checked by tests/core/policy/test_file_access.py:

I1  Whatever is not known never yields an allowing YES or a preventing NO.
I2  One more word, assignment or redirection never makes an allowing NO a YES.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from holdfast.core.policy.command_words import Match, both, words_of
from holdfast.core.policy.meant_folders import MeantFolders, lies_in
from holdfast.core.policy.named_paths import (
    listed,
    named_paths,
    read_paths,
    written_paths,
)
from holdfast.core.shell.globs import Globs
from holdfast.core.shell.open_words import OpenWord
from holdfast.core.shell.simple_command import Command
from holdfast.model.policy_questions import NamedPath, Question

NOWHERE = "/dev/null"
"""The file that is none: reading and writing it is nobody's matter."""

Paths = tuple[NamedPath, ...] | None


@dataclass(frozen=True, slots=True)
class Options:
    """Options, in every way they can be spelled."""

    texts: tuple[str, ...]
    _globs: Globs = field(init=False, repr=False, compare=False)
    _long: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _letters: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        long = [one for one in self.texts if one.startswith("--")]
        short = [one for one in self.texts if len(one) == len("-x") and one[0] == "-"]
        object.__setattr__(self, "_globs", Globs.of(self.texts))
        object.__setattr__(self, "_long", tuple(one.rstrip("*") for one in long))
        object.__setattr__(self, "_letters", frozenset(one[1] for one in short))

    def has(self, word: str) -> bool:
        """Tell whether a word is one of these options, or may be short for one."""
        if self._globs.fit(word):
            return True
        if word.startswith("--"):
            name = word.partition("=")[0]
            begun = name != "--" and any(one.startswith(name) for one in self._long)
            return begun or name in self._long
        return word.startswith("-") and not self._letters.isdisjoint(word[1:])

    def may_have(self, word: OpenWord) -> bool:
        """Tell whether a word may become one of these options."""
        return word.may_be_option or word.may_fit(self._globs)


@dataclass(frozen=True, slots=True)
class FilePatterns:
    """What a rule wants of what a command reaches; every key given must fit."""

    without: Options | None = None
    sets: Globs | None = None
    paths: MeantFolders | None = None
    writes: MeantFolders | None = None

    def allowing(self, command: Command, question: Question) -> Match:
        """Tell whether a rule that allows may speak of this command."""
        if command.doubt:
            return Match.MAYBE
        found = both(self._unset(command), self._redirected(command, question))
        if self.without is not None and found is not Match.NO:
            found = both(found, _is_without(self.without, command, question))
        if self.paths is not None and found is not Match.NO:
            found = both(found, _all(self.paths, named_paths(command), question))
        return found

    def preventing(self, command: Command, question: Question) -> Match:
        """Tell whether a rule that denies or asks speaks of this command."""
        if command.doubt:
            return Match.MAYBE
        unseen = Match.MAYBE if command.hides else Match.NO
        found = Match.YES
        if self.without is not None:
            found = both(found, _is_without(self.without, command, question))
        if self.paths is not None:
            named = _some(self.paths, named_paths(command), question)
            opened = _some(self.paths, read_paths(command), question)
            found = both(found, _either(named, opened, unseen))
        if self.writes is not None:
            written = _some(self.writes, written_paths(command), question)
            found = both(found, _either(written, unseen))
        return found

    def _unset(self, command: Command) -> Match:
        """Tell whether nothing is set but what may be."""
        if not command.assignments:
            return Match.YES
        if self.sets is None:
            return Match.MAYBE
        names = [one.name for one in command.assignments]
        return Match.YES if all(map(self.sets.fit, names)) else Match.NO

    def _redirected(self, command: Command, question: Question) -> Match:
        """Tell whether nothing is opened but what may be."""
        found = Match.YES
        for folders, paths in (
            (self.paths, read_paths(command)),
            (self.writes, written_paths(command)),
        ):
            if paths != ():
                known = folders is not None
                found = both(found, _all(folders, paths, question) if known else MAYBE)
        if any(one.feeds for one in command.redirections):
            # A text is a program to an interpreter, and words to what reads files.
            is_read = not (self.paths is None or command.hides or command.carries)
            found = both(found, Match.YES if is_read else MAYBE)
        return found


MAYBE = Match.MAYBE


def _is_without(options: Options, command: Command, question: Question) -> Match:
    found = Match.YES
    for word in words_of(command)[1:]:
        if isinstance(word, str):
            if options.has(word):
                return Match.NO
        elif options.may_have(word) and not _is_of_files(word, command, question):
            found = Match.MAYBE
    return found


def _is_of_files(word: OpenWord, command: Command, question: Question) -> bool:
    """Tell whether a word becomes names of files, of which none looks like an option.

    Where one does, they are not told.
    """
    if word.head.startswith("-") or command.refilled:
        return False
    found = [listed(folder, word) for folder in command.folders]
    return bool(found) and all(
        one is not None and question.paths.get(one) is not None for one in found
    )


def _all(folders: MeantFolders | None, paths: Paths, question: Question) -> Match:
    def covered(path: str) -> Match:
        if path == NOWHERE:
            return Match.YES
        if any(lies_in(path, own) or lies_in(own, path) for own in question.own):
            return Match.NO
        return MAYBE if folders is None else folders.covers(path, question.home)

    found = Match.YES
    for match in _matches(covered, paths, question):
        found = both(found, match)
    return found


def _some(folders: MeantFolders, paths: Paths, question: Question) -> Match:
    def met(path: str) -> Match:
        return folders.meets(path, question.home)

    return _either(*_matches(met, paths, question))


def _matches(
    match: Callable[[str], Match], paths: Paths, question: Question
) -> list[Match]:
    if paths is None:
        return [MAYBE]
    found: list[Match] = []
    for named in paths:
        real = question.paths.get(named)
        found += [MAYBE] if real is None else map(match, real)
    return found


def _either(*found: Match) -> Match:
    matches: Iterable[Match] = found
    if Match.YES in matches:
        return Match.YES
    return MAYBE if MAYBE in matches else Match.NO
