"""The folders in which a command would run, compared with those of a rule.

A line may change its own folder: in `cd src && make`, `make` runs in `src`. Reading
the line tells which paths that may be, as they are written; the question says where
each of them leads now, every link followed (`Question.folders`), or says nothing if
that could not be told.

Invariants, checked by tests/core/policy/test_command_folders.py:

I1  A rule that allows is sure of a folder only if every folder that the command may
    run in is known and meant.
I2  A rule that prevents is sure that it does not fit only if each is known and none
    is meant.
"""

from dataclasses import replace

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.conditions import Under
from holdfast.core.policy.rules import Rule
from holdfast.core.shell.simple_command import HERE, Command
from holdfast.model.policy_questions import Question
from holdfast.model.verdicts import Verdict


def working_folders(command: Command, question: Question) -> tuple[str | None, ...]:
    """Return every folder that a command may run in; None for one not known."""
    if not command.folders:
        return (None,)
    known = {} if command.relinked else question.folders
    return tuple(
        known.get(folder) if folder else question.cwd for folder in command.folders
    )


def is_under(rule: Rule, under: Under, command: Command, question: Question) -> Match:
    """Tell whether a command runs in the folders that a rule means."""
    # A rule without words is about the session, whatever is typed.
    if rule.words is None or command.folders == HERE:
        return under.match(question)
    found = {
        under.match(replace(question, cwd=folder))
        for folder in working_folders(command, question)
    }
    if len(found) == 1:
        return found.pop()
    decisive = Match.NO if rule.verdict is Verdict.ALLOW else Match.YES
    return decisive if decisive in found else Match.MAYBE
