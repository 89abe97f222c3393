"""The verdict of the rules on an input, and the rule that gave it.

Theory of operation
-------------------
A policy is a list of rules and a default for each kind of actor. A rule fits a
question or it does not, or nobody can tell (MAYBE: see policy_words). A line of
several commands is judged command by command, and the strictest counts.

    a deny rule fits                          deny
    else an ask rule fits                     ask
    else a preview rule fits                  preview
    else an allow rule fits                   allow
    else                                      the default: human allow, others deny

Wherever a MAYBE would change that answer, the answer is the policy's word for
what is *undecidable*: ask, unless the policy says deny. For humans, whose single
keys no rule can judge, it is *pass* by default: the rule counts as not fitting.

Plug-ins and a webhook are asked afterwards, elsewhere; `combined` joins their
judgements with this one. A default is no opinion: it counts if nobody has one.

Invariants, each checked by tests/core/policy/test_policy_properties.py:

I1  Deny wins over ask, ask over preview, and preview over allow, in whatever order
    the rules stand.
I2  No question raises anything, whatever its bytes are.
I3  Another rule that denies never makes a judgement milder, and another that
    asks or previews never makes it an allow.
I4  An empty policy allows humans and denies all other operators.
I5  A rule about words allows nothing undecidable, except to a human.
I6  What not the shell alone reads is allowed by no rule about words.
I7  A rung makes nothing milder but a default, and nothing milder than the ceiling.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast.core.capsule.runtime_choice import Runtime
from holdfast.core.input.budget import Budget
from holdfast.core.input.turn import TurnRules
from holdfast.core.policy.command_folders import is_under
from holdfast.core.policy.command_words import Match, WordPatterns, both
from holdfast.core.policy.exec_command import (
    all_names,
    commands_of,
    first_words,
    other_names,
    resolved_of,
)
from holdfast.core.policy.line_effects import with_effects
from holdfast.core.policy.resolved import ResolvedPatterns
from holdfast.core.policy.rule_index import RuleIndex
from holdfast.core.policy.rules import Rule, Undecidable, Webhook, rung_of
from holdfast.core.shell.command_line import doubtful_line, read_line
from holdfast.core.shell.heredocs import has_heredoc
from holdfast.core.shell.shell_grammar import grammar_of
from holdfast.core.shell.simple_command import Command
from holdfast.model.actors import ActorKind
from holdfast.model.inputs import InputKind
from holdfast.model.limits import Limits
from holdfast.model.policy_questions import Execution, Question
from holdfast.model.resolutions import Resolution, Sort
from holdfast.model.verdicts import STRICTNESS, Verdict

UNDECIDABLE = "undecidable"
"""The rule that is named when no rule could be decided."""

AUTONOMY = "autonomy"
"""The rule that is named when an operator's rung for a kind of action decides."""

NO_EXEC_GATE = "no-exec-gate"
"""The rule that is named when a rule about execs cannot be kept."""

MAX_SHOWN_TEXT = 4096
"""Characters of a line that the document has as text; all of any honest one."""


def _defaults() -> dict[ActorKind, Verdict]:
    return {
        kind: Verdict.ALLOW if kind is ActorKind.HUMAN else Verdict.DENY
        for kind in ActorKind
    }


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that a policy file says."""

    rules: tuple[Rule, ...] = ()
    default: Mapping[ActorKind, Verdict] = field(default_factory=_defaults)
    undecidable: Mapping[ActorKind, Undecidable] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()
    webhook: Webhook | None = None
    turn: TurnRules = field(default_factory=TurnRules)
    budgets: Mapping[ActorKind, Budget] = field(default_factory=dict)
    runtime: Mapping[ActorKind, Runtime] = field(default_factory=dict)
    """How sessions run that actors of a kind start."""

    limits: Mapping[ActorKind, Limits] = field(default_factory=dict)
    """The most of the machine that such a session may use."""

    autonomy: Mapping[ActorKind, Verdict] = field(default_factory=dict)
    """The highest rung that operators of a kind may reach; none if it is not here."""

    rungs: Mapping[tuple[str, str], Verdict] = field(default_factory=dict)
    """What was decided for an operator and a kind of action (core.autonomy.ladder)."""

    index: RuleIndex = field(init=False, compare=False, repr=False)
    climbers: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # The assignments that a frozen value has: they are made from the others.
        object.__setattr__(self, "index", RuleIndex(self.rules))
        object.__setattr__(self, "climbers", frozenset(who for who, _ in self.rungs))

    def when_undecidable(self, kind: ActorKind) -> Undecidable:
        """Return what the policy says, or else what is safe for this kind."""
        if (said := self.undecidable.get(kind)) is not None:
            return said
        # An operator who may do all that no rule forbids may also type it.
        is_free = kind is ActorKind.HUMAN and self.default[kind] is Verdict.ALLOW
        return Undecidable.PASS if is_free else Undecidable.ASK


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, the rule it comes from, and what that rule says about itself."""

    verdict: Verdict
    rule: str
    why: str = ""
    by_default: bool = False
    """Whether nobody had an opinion."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule made of a question, and what stood in its way."""

    rule: str
    verdict: Verdict
    match: Match
    because: str


def judge(policy: Policy, question: Question) -> Judgement:
    """Return what the rules say."""
    handling = policy.when_undecidable(question.actor.kind)
    contexts = policy.index.contexts(question, passes=handling is Undecidable.PASS)
    climbs = question.actor.id in policy.climbers
    if not climbs and (
        contexts.count(Match.NO) == len(contexts)
        or _is_unnamed(policy, contexts, question.execution)
    ):
        # No rule is about this actor, here and now, or about this program: the words
        # need not be read.
        kind = question.actor.kind
        return Judgement(policy.default[kind], f"default-{kind}", by_default=True)
    commands = commands_in(question)
    if question.execution is None or policy.index.has_files:
        # The commands of an exec are one under several names; rules about files are
        # as careful with it as with a line.
        commands = with_effects(commands)
    judged = [_judged(policy, contexts, one, question) for one in commands]
    if climbs:
        pairs = zip(commands, judged, strict=True)
        judged = [on_rung(policy, one, question, said) for one, said in pairs]
    if question.execution is None:
        return strictest(judged)
    prevented = [
        _prevented(policy, contexts, command, question)
        for command in other_names(question.execution)
    ]
    return combined(*judged, *prevented)


def on_rung(
    policy: Policy, command: Command, question: Question, said: Judgement
) -> Judgement:
    """Return what the operator's rung makes of a judgement: see I7."""
    verdict = rung_of(policy.autonomy, policy.rungs, command, question)
    if verdict is None:
        return said
    if not said.by_default and STRICTNESS[verdict] <= STRICTNESS[said.verdict]:
        return said
    return Judgement(verdict, AUTONOMY, "its rung for this kind of action")


def _is_unnamed(
    policy: Policy, contexts: list[Match], execution: Execution | None
) -> bool:
    """Tell whether no rule that holds can be about an exec, by any of its names."""
    firsts = None if execution is None else first_words(execution)
    if execution is None or firsts is None:
        return False
    return not policy.index.is_met(firsts, all_names(execution, firsts), contexts)


def without_exec_gate(policy: Policy, question: Question) -> Judgement | None:
    """Return what becomes of an input where no exec is judged, if that matters.

    A rule that prevents execs, and nothing else, cannot be kept there. Nobody is
    told that it was, but for humans, to whom what nobody can tell is let pass.
    """
    if policy.when_undecidable(question.actor.kind) is Undecidable.PASS:
        return None
    kind = InputKind.COMMAND if question.kind is InputKind.START else question.kind
    executing = replace(question, kind=kind, execution=Execution(None, None, ()))
    contexts = policy.index.contexts(executing)
    for rule, context in zip(policy.rules, contexts, strict=True):
        if context is not Match.NO and rule.is_about_execs:
            why = f"rule {rule.name} is about execs, which are not judged here"
            return Judgement(Verdict.DENY, NO_EXEC_GATE, why)
    return None


def explain(policy: Policy, question: Question) -> tuple[Finding, ...]:
    """Return what each rule made of the question, in the order of the file."""
    commands = with_effects(commands_in(question))
    contexts = policy.index.contexts(question)
    return tuple(
        _finding(rule, context, commands, question)
        for rule, context in zip(policy.rules, contexts, strict=True)
    )


def combined(first: Judgement, *others: Judgement | None) -> Judgement:
    """Join the judgement of the rules with those of plug-ins and a webhook.

    None is no opinion. Of several that are equally strict, the first is named.
    """
    given = [first, *(other for other in others if other is not None)]
    opinions = [judgement for judgement in given if not judgement.by_default]
    return strictest(opinions or given)


def strictest(judgements: Iterable[Judgement]) -> Judgement:
    """Return the first of the strictest."""
    return max(judgements, key=lambda judgement: STRICTNESS[judgement.verdict])


def document(question: Question) -> dict[str, object]:
    """Return what plug-ins and a webhook are given: spec/policy.md, section 6."""
    whole = question.to_object()
    commands = [] if question.secret else [*commands_in(question)]
    doubt = commands[0].doubt if commands else ""
    is_text = bool(commands) and question.is_text and not doubt
    line = (question.staged or b"") + question.payload
    text = line.decode("utf-8", "replace").rstrip("\r\n") if is_text else None
    return {
        **whole,
        "text": text if text is None else text[:MAX_SHOWN_TEXT],
        "commands": [command.words for command in commands] if is_text else None,
        "doubt": doubt or None,
    }


def commands_in(question: Question) -> tuple[Command, ...]:
    """Return the commands that a question is about, with what they run if known."""
    if question.execution is not None:
        return commands_of(question.execution)
    if not question.is_text:
        return (Command(),)
    commands = typed_commands(question)
    resolution = question.resolution
    if resolution is None or len(resolution.commands) != len(commands):
        return commands
    if _is_read_otherwise(commands, resolution):
        return doubtful_line(question.payload, "an alias may not read its heredoc")
    return tuple(
        replace(command, resolved=resolved)
        for command, resolved in zip(commands, resolution.commands, strict=True)
    )


def _is_read_otherwise(commands: Sequence[Command], resolution: Resolution) -> bool:
    """Tell whether lines behind the first may run, because an alias changes that."""
    has_alias = any(
        link.sort is Sort.ALIAS for one in resolution.commands for link in one.links
    )
    return has_alias and has_heredoc(commands)


def typed_commands(question: Question) -> tuple[Command, ...]:
    """Return the commands of a text, with the unsubmitted input before it."""
    if question.staged is None:
        return doubtful_line(question.payload, "what follows is not known")
    ended = question.kind is InputKind.COMMAND
    grammar = grammar_of(question.shell)
    line, values = question.staged + question.payload, question.values
    return read_line(line, grammar, ended=ended, values=values)


def _fits(rule: Rule, context: Match, command: Command, question: Question) -> Match:
    found = context
    if rule.words is not None:
        if not question.is_text:
            return Match.NO
        found = both(found, _words_fit(rule, rule.words, command, question))
    if rule.resolved is not None and found is not Match.NO:
        found = both(found, _resolves(rule, rule.resolved, command, question))
    if _is_overheard(rule, question):
        found = both(found, Match.MAYBE)
    if rule.under is not None and found is not Match.NO:
        found = both(found, is_under(rule, rule.under, command, question))
    return found


def _is_overheard(rule: Rule, question: Question) -> bool:
    """Tell whether a rule would allow a line that not the shell alone reads.

    Another reader may take part of it, and the shell runs the rest.
    """
    is_about_text = rule.words is not None or rule.resolved is not None
    return (
        is_about_text
        and rule.verdict is Verdict.ALLOW
        and question.execution is None
        and not question.shell_reads
    )


def _words_fit(
    rule: Rule, words: WordPatterns, command: Command, question: Question
) -> Match:
    files = rule.files
    if rule.verdict is not Verdict.ALLOW:
        found = words.preventing(command)
        if files is None or found is Match.NO:
            return found
        return both(found, files.preventing(command, question))
    found = words.allowing(command, reaches=files is not None)
    if files is None or found is Match.NO:
        return found
    return both(found, files.allowing(command, question))


def _resolves(
    rule: Rule, wanted: ResolvedPatterns, command: Command, question: Question
) -> Match:
    if not question.is_text:
        return Match.NO
    resolved = command.resolved
    if question.execution is not None:
        # Who staged something is known of lines; what is executed says only what.
        if wanted.originator is not None or wanted.kinds or wanted.things:
            return Match.NO
        resolved = resolved_of(question.execution)
        if question.resolution is not None:  # Of a start it was looked up.
            (resolved,) = question.resolution.commands
    if rule.verdict is Verdict.ALLOW:
        return wanted.allowing(resolved, question)
    return wanted.preventing(resolved, question)


def _judged(
    policy: Policy,
    contexts: list[Match],
    command: Command,
    question: Question,
) -> Judgement:
    sure: dict[Verdict, Rule] = {}
    unsure: dict[Verdict, Rule] = {}
    for number, rule in policy.index.candidates(command):
        context = contexts[number]
        if context is Match.NO:
            continue
        match = _fits(rule, context, command, question)
        if match is not Match.NO:
            found = sure if match is Match.YES else unsure
            found.setdefault(rule.verdict, rule)
    for verdict in (Verdict.DENY, Verdict.ASK):
        # An ask that is sure stands, unless what may be denied is to be denied.
        if verdict in sure and not _overruled(policy, verdict, unsure, question):
            return _said_by(sure[verdict])
    mildest = sure.get(Verdict.PREVIEW) or sure.get(Verdict.ALLOW)
    return _weighed(policy, mildest, unsure, command, question)


def _prevented(
    policy: Policy, contexts: list[Match], command: Command, question: Question
) -> Judgement | None:
    """Return by which rule an exec is denied or asked about under another name."""
    found: dict[Match, list[Rule]] = {Match.YES: [], Match.MAYBE: [], Match.NO: []}
    for number, rule in policy.index.candidates(command):
        if rule.verdict is not Verdict.ALLOW and rule.words is not None:
            match = _fits(rule, contexts[number], command, question)
            found[match].append(rule)
    if found[Match.YES]:
        return strictest(map(_said_by, found[Match.YES]))
    handling = policy.when_undecidable(question.actor.kind)
    if not found[Match.MAYBE] or handling is Undecidable.PASS:
        return None
    why = f"one of its names is not known: see rule {found[Match.MAYBE][0].name}"
    return Judgement(Verdict(handling.value), UNDECIDABLE, why)


def _overruled(
    policy: Policy, verdict: Verdict, unsure: dict[Verdict, Rule], question: Question
) -> bool:
    handling = policy.when_undecidable(question.actor.kind)
    return (
        verdict is Verdict.ASK
        and Verdict.DENY in unsure
        and handling is Undecidable.DENY
    )


def _weighed(
    policy: Policy,
    mildest: Rule | None,
    unsure: dict[Verdict, Rule],
    command: Command,
    question: Question,
) -> Judgement:
    """Judge what no rule surely denies or asks about, by what may fit or may not."""
    kind = question.actor.kind
    default = Judgement(policy.default[kind], f"default-{kind}", by_default=True)
    otherwise = default if mildest is None else _said_by(mildest)
    handling = policy.when_undecidable(kind)
    if handling is Undecidable.PASS:
        return otherwise
    preventing = unsure.get(Verdict.DENY) or unsure.get(Verdict.ASK)
    if otherwise.verdict is not Verdict.PREVIEW:
        preventing = preventing or unsure.get(Verdict.PREVIEW)
    allowing = unsure.get(Verdict.ALLOW)
    if mildest is not None or otherwise.verdict is Verdict.ALLOW:
        allowing = None  # Whether it fits or not, the answer is the same.
    doubtful = preventing or allowing
    if doubtful is None:
        return otherwise
    doubt = Judgement(
        Verdict(handling.value),
        UNDECIDABLE,
        f"{_doubt(command, question)}: see rule {doubtful.name}",
    )
    if allowing is not None or doubt.verdict is otherwise.verdict:
        return doubt
    # A rule may prevent it: no opinion of others makes up for that.
    return replace(strictest([doubt, otherwise]), by_default=False)


def _doubt(command: Command, question: Question) -> str:
    if command.doubt:
        return command.doubt
    if not question.shell_reads:
        return "another program than the shell may read it"
    if command.relinked:
        return "another command of the line may change where its paths lead"
    return "its words do not tell"


def _said_by(rule: Rule) -> Judgement:
    return Judgement(rule.verdict, rule.name, rule.why)


def _finding(
    rule: Rule, context: Match, commands: tuple[Command, ...], question: Question
) -> Finding:
    found = [_fits(rule, context, command, question) for command in commands]
    if Match.YES in found:
        return Finding(rule.name, rule.verdict, Match.YES, "everything fits")
    if Match.MAYBE in found:
        doubt = commands[found.index(Match.MAYBE)].doubt
        if not doubt and _is_overheard(rule, question):
            doubt = "another program than the shell may read it"
        because = doubt or f"cannot be decided by {_key(rule, Match.MAYBE, question)}"
        return Finding(rule.name, rule.verdict, Match.MAYBE, because)
    key = _key(rule, Match.NO, question)
    return Finding(rule.name, rule.verdict, Match.NO, f"it does not fit by {key}")


def _key(rule: Rule, match: Match, question: Question) -> str:
    """Return which key of a rule matches like this, apart from the words."""
    conditions = [*rule.conditions, *([] if rule.under is None else [rule.under])]
    keys = [one.key for one in conditions if one.match(question) is match]
    return keys[0] if keys else "its words"
