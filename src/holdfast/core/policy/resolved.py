"""Whether what a command runs matches a rule: yes, no, or undecidable.

Theory of operation
-------------------
As with words, a rule that allows must be sure, and one that prevents must not be
evaded. What a command resolves to is a chain of links and a set of things that
were staged (model.resolutions), and perhaps a doubt: something about it could not
be told.

    key                           to allow                     to deny or to ask
    resolves, program             every link, every path       some link, some path
    originator, originator_kind,  all who staged something     any one who staged
    staged                        that the command uses        something it uses

With a doubt, or an originator who is not known for certain, an allowing YES and a
preventing NO become MAYBE. A line that is not whole is not resolved: MAYBE.

Invariants, checked by tests/core/policy/test_resolved.py:

I1  What was not resolved, or has a doubt, never yields an allowing YES or a
    preventing NO.
I2  One more thing that is staged never makes an allowing NO a YES, nor a
    preventing YES a NO.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from holdfast.core.policy.command_words import Match, both
from holdfast.core.policy.conditions import OTHER, SELF, Named
from holdfast.core.shell.globs import Globs
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import ActorId
from holdfast.model.policy_questions import Question
from holdfast.model.resolutions import Resolved, Sort, Staging, Thing


@dataclass(frozen=True, slots=True)
class OriginatorIs:
    """Which originators are meant; one of these has to fit."""

    words: frozenset[str]
    named: Named | None

    def fit(self, actor: Actor, trigger: ActorId) -> bool:
        """Tell whether this one is meant when `trigger` makes the input."""
        word = SELF if actor.id == trigger else OTHER
        is_named = self.named is not None and self.named.fit(actor.name, actor.id)
        return word in self.words or is_named


@dataclass(frozen=True, slots=True)
class ResolvedPatterns:
    """What a rule wants of what runs; every key that is given must fit."""

    sorts: frozenset[Sort] = frozenset()
    programs: Globs | None = None
    originator: OriginatorIs | None = None
    kinds: frozenset[ActorKind] = frozenset()
    things: frozenset[Thing] = frozenset()

    def allowing(self, resolved: Resolved | None, question: Question) -> Match:
        """Tell whether a rule that allows may speak of this command."""
        if resolved is None:
            return Match.MAYBE
        found = Match.YES
        if self.sorts:
            found = both(
                found, _all(link.sort in self.sorts for link in resolved.links)
            )
        if self.programs is not None:
            found = both(found, _all(map(self.programs.fit, resolved.paths)))
        if self._is_about_people:
            found = both(found, self._by_all(resolved, question))
        return both(found, Match.MAYBE if resolved.doubt else Match.YES)

    def preventing(self, resolved: Resolved | None, question: Question) -> Match:
        """Tell whether a rule that denies or asks speaks of this command."""
        if resolved is None:
            return Match.MAYBE
        otherwise = Match.MAYBE if resolved.doubt else Match.NO
        found = Match.YES
        if self.sorts and not any(link.sort in self.sorts for link in resolved.links):
            found = otherwise
        if self.programs is not None and not any(
            map(self.programs.fit, resolved.paths)
        ):
            found = both(found, otherwise)
        if self._is_about_people:
            found = both(found, self._by_some(resolved, question, otherwise))
        return found

    @property
    def _is_about_people(self) -> bool:
        return bool(self.originator is not None or self.kinds or self.things)

    def _by_all(self, resolved: Resolved, question: Question) -> Match:
        found = Match.YES
        for one in self._about(resolved):
            if not all(map(self._meant(question), one.by)):
                return Match.NO
            found = found if one.is_known else Match.MAYBE
        return found

    def _by_some(
        self, resolved: Resolved, question: Question, otherwise: Match
    ) -> Match:
        found = otherwise
        for one in self._about(resolved):
            if any(map(self._meant(question), one.by)):
                return Match.YES
            found = found if one.is_known else Match.MAYBE
        return found

    def _about(self, resolved: Resolved) -> list[Staging]:
        every = not self.things
        return [one for one in resolved.staged if every or one.what in self.things]

    def _meant(self, question: Question) -> Callable[[ActorId], bool]:
        known = {actor.id: actor for actor in question.originators}

        def is_meant(given: ActorId) -> bool:
            # A stranger counts as an agent without a name.
            actor = known.get(given) or Actor(given, ActorKind.AGENT, "")
            originator = self.originator
            return (not self.kinds or actor.kind in self.kinds) and (
                originator is None or originator.fit(actor, question.actor.id)
            )

        return is_meant


def _all(fit: Iterable[bool]) -> Match:
    """Return whether there is something, and all of it fits."""
    found = list(fit)
    return Match.YES if found and all(found) else Match.NO
