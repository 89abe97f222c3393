"""The rules that could apply to a command.

Most rules about words name the first word, and most conditions are those of many
rules. So rules are found by the first word where the words of a command say what
runs, and each condition is asked about a question once, however many rules have
it. What is found this way is what would be found by asking every rule:

I1  A rule that is not a candidate for a command does not fit it.

tests/core/policy/test_policy_properties.py compares with asking every rule.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce

from holdfast.core.policy.command_words import Match, WordPatterns, both
from holdfast.core.policy.conditions import Condition
from holdfast.core.policy.rules import Rule
from holdfast.core.shell.simple_command import Command
from holdfast.model.policy_questions import Question

PREFIX = 4
"""Letters by which patterns are told apart that begin with letters."""


MAX_KNOWN = 256
"""Names whose rules are remembered: the programs that people and builds use."""


class RuleIndex:
    """The rules of one policy, by what they want."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._conditions = _distinct(rules)
        numbers = {one: number for number, one in enumerate(self._conditions)}
        self._wanted = [[numbers[one] for one in rule.conditions] for rule in rules]
        self.has_files = any(rule.files is not None for rule in rules)
        """Whether some rule wants to know where paths lead."""

        self._resolving = [n for n, rule in enumerate(rules) if rule.resolved]
        self._anchored: dict[str, list[int]] = defaultdict(list)
        words = [rule.words or WordPatterns() for rule in rules]
        self._words = [one.needed_words() for one in words]
        self._texts = [one.needed_texts() for one in words]
        self._beginning: dict[str, list[int]] = defaultdict(list)
        self._known: dict[frozenset[str], list[int]] = {}
        for number, rule in enumerate(rules):
            firsts = [] if rule.words is None else rule.words.first_words()
            for word in {word for globs in firsts for word in globs.literals}:
                self._anchored[word].append(number)
            # A rule without a first word is one with a first word that may begin
            # with anything.
            prefixes = {prefix for globs in firsts for prefix in globs.prefixes}
            for prefix in prefixes if firsts else {""}:
                self._beginning[prefix[:PREFIX]].append(number)

    def contexts(self, question: Question, *, passes: bool = False) -> list[Match]:
        """Return for each rule whether its conditions hold.

        If what nobody can tell `passes`, a rule about what runs does not fit a key
        in the middle of a line, whose words need not be read for it.
        """
        found = self._contexts(question)
        is_resolved = question.resolution is not None or question.execution is not None
        if passes and not is_resolved:
            for number in self._resolving:
                found[number] = Match.NO
        return found

    def _contexts(self, question: Question) -> list[Match]:
        held = [condition.match(question) for condition in self._conditions]
        if Match.MAYBE in held:
            return [_all([held[one] for one in wanted]) for wanted in self._wanted]
        failed = {number for number, match in enumerate(held) if match is Match.NO}
        return [
            Match.YES if failed.isdisjoint(wanted) else Match.NO
            for wanted in self._wanted
        ]

    def candidates(self, command: Command) -> Iterator[tuple[int, Rule]]:
        """Yield the rules that may fit, in the order of the file."""
        if command.doubt or command.carries or command.hides:
            yield from enumerate(self._rules)
            return
        first = (command.words[0] if command.words else None) or ""
        found = self._beginning_with(frozenset((first, first.rsplit("/", 1)[-1])))
        is_known = None not in command.words and None not in command.touched
        for number in found:
            if not is_known or self._is_possible(number, command.names, command.joined):
                yield number, self._rules[number]

    def is_met(
        self, firsts: frozenset[str], names: frozenset[str] | None, held: list[Match]
    ) -> bool:
        """Tell whether some rule may fit a command that is known by several names.

        These are its first words and what is behind the last slash of each, and all
        names of all its words, or None if one is not known. Its words must say what
        runs, and `held` are the contexts of the question. If there is no such rule,
        no rule is a candidate for any command of these words, or it does not hold.
        """
        joined = "" if names is None else "\n".join(names)
        return any(
            held[number] is not Match.NO
            and (names is None or self._is_possible(number, names, joined))
            for number in self._beginning_with(firsts)
        )

    def _beginning_with(self, names: frozenset[str]) -> list[int]:
        """Return the rules whose first word may be one of these, in their order."""
        if (known := self._known.get(names)) is not None:
            return known
        found = {n for name in names for n in self._anchored.get(name, ())}
        for beginning in {name[:size] for name in names for size in range(PREFIX + 1)}:
            found.update(self._beginning.get(beginning, ()))
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[names] = sorted(found)
        return self._known[names]

    def _is_possible(self, number: int, names: frozenset[str], joined: str) -> bool:
        if not self._words[number] <= names:
            return False
        return any(text in joined for text in self._texts[number])


def _distinct(rules: Sequence[Rule]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys(one for rule in rules for one in rule.conditions))


def _all(matches: list[Match]) -> Match:
    return reduce(both, matches, Match.YES)
