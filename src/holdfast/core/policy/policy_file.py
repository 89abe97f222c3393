"""Reads a policy file, and finds its mistakes.

Theory of operation
-------------------
The file is TOML. It is read whole or not at all: a rule that was meant to deny
must not be passed over because of a slip in another. Every problem is found in
one go, and named with its line where the text tells it, its rule and its key.
docs/spec/policy.md is the format.

    [default]       kind of actor = verdict
    [undecidable]   kind of actor = "pass", "ask" or "deny"
    [plugins]       use = names of entry points
    [webhook]       url, timeout
    [turn]          limit, grace, ask, next
    [runtime]       kind of actor = "capsule" or "plain"
    [limits.KIND]   memory, cpus, pids
    [budget.KIND]   inputs_per_minute, bytes_per_minute, turn_seconds
    [folders]       name = folders, for which @name stands in rules
    [[rule]]        verdict, name, why, and what it wants

Invariants, checked by tests/core/policy/test_policy_file.py and the fuzzer:

I1  No bytes raise anything but UsageError.
I2  A file with a problem yields no policy.
I3  An unknown key is a problem.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from holdfast.core.capsule.runtime_choice import Runtime
from holdfast.core.input.budget import Budget
from holdfast.core.input.turn import TurnRules
from holdfast.core.policy.conditions import Under
from holdfast.core.policy.policy import Policy
from holdfast.core.policy.policy_limits import (
    BUDGET_KEYS,
    TURN_KEYS,
    read_budget,
    read_turn,
)
from holdfast.core.policy.rule_keys import (
    CONDITIONS,
    FILES,
    RESOLVED,
    WORDS,
    Complain,
    read_files,
    read_folders,
    read_resolved,
    read_words,
    with_folders,
)
from holdfast.core.policy.rules import Rule, Undecidable, Webhook
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedPolicy
from holdfast.model.limits import EXPECTED, Limits, limits_from
from holdfast.model.text import printable
from holdfast.model.toml_text import Problem, parsed
from holdfast.model.verdicts import Verdict

MAX_FILE = 256 * 1024
"""Bytes of a policy file: thousands of rules, and quickly read."""

MAX_RULES = 10_000
"""Rules of a policy; more would slow down every keystroke."""

MAX_PROBLEMS = 100
"""Problems that are listed; a file with more is not a policy."""

MAX_NAMED = 5
"""Problems that the error names; it is one sentence, and `examine` has them all."""

MAX_TEXT = 200
"""Characters of a rule's `why`: one line on a screen."""

MAX_PLUGINS = 8
"""Plug-ins that are asked about every input."""

MAX_TIMEOUT = 1.5
"""Seconds for a webhook: the gate waits 2 for all together."""

DEFAULT_TIMEOUT = 1.0
"""Seconds a webhook has if the file does not say."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADER = re.compile(r"[ \t]*\[\[[ \t]*rule[ \t]*\]\]")
_TABLE = re.compile(r"[ \t]*\[")
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?P<path>/[!-~]*)?"
)
_OUR_OWN = re.compile(r"localhost|127\.[0-9]+\.[0-9]+\.[0-9]+|\[::1\]")
_MAX_PORT = 65535

Word = TypeVar("Word", Verdict, Undecidable, Runtime)


def read_policy(raw: bytes) -> Policy:
    """Read a policy file.

    Raises:
        UsageError: Something is wrong with it; all of that is named.

    """
    policy, problems = examine(raw)
    if policy is None:
        named = "; ".join(map(str, problems[:MAX_NAMED]))
        raise MalformedPolicy(len(problems), named)
    return policy


def examine(raw: bytes) -> tuple[Policy | None, tuple[Problem, ...]]:
    """Return the policy, or None and everything that is wrong with the file."""
    document = parsed(raw, MAX_FILE)
    if isinstance(document, Problem):
        return None, (document,)
    reading = _Reading(raw.decode().splitlines())
    policy = reading.policy(document)
    problems = tuple(reading.problems[:MAX_PROBLEMS])
    return (None if problems else policy), problems


@dataclass(slots=True)
class _Reading:
    lines: list[str]
    problems: list[Problem] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    folders: dict[str, list[object]] = field(default_factory=dict)

    def policy(self, document: Mapping[str, object]) -> Policy:
        for key in document.keys() - _SECTIONS:
            self._note(
                self._line_of(key, range(len(self.lines))), _shown(key), _UNKNOWN
            )
        self.folders = self._named_folders(document)
        rules = self._rules(document.get("rule", []))
        default = self._kinds(document, "default", Verdict)
        undecidable = self._kinds(document, "undecidable", Undecidable)
        for kind in undecidable.keys() - {ActorKind.HUMAN}:
            if undecidable[kind] is Undecidable.PASS:
                what = 'only humans may "pass"; expected "ask" or "deny"'
                self._note(self._line_in("undecidable", kind), "undecidable", what)
        budgets = self._budgets(document)
        return Policy(
            rules,
            {**Policy().default, **default},
            undecidable,
            self._plugins(document),
            self._webhook(document),
            self._turn(document, budgets),
            budgets,
            self._kinds(document, "runtime", Runtime),
            self._limits(document),
            self._autonomy(document),
        )

    # ── rules ─────────────────────────────────────────────────────────────

    def _rules(self, given: object) -> tuple[Rule, ...]:
        if not isinstance(given, list) or not all(isinstance(r, dict) for r in given):
            self._note(None, "rule", "expected tables that begin with [[rule]]")
            return ()
        if len(given) > MAX_RULES:
            self._note(None, "rule", f"there are over {MAX_RULES} rules")
            return ()
        headers = [n for n, line in enumerate(self.lines) if _HEADER.match(line)]
        # In another spelling of the list, or with such a line inside of a text,
        # the n-th line is not that of the n-th rule.
        known = len(headers) == len(given)
        return tuple(
            self._rule(rule, number, headers[number - 1] if known else None)
            for number, rule in enumerate(given, 1)
        )

    def _rule(
        self, given: Mapping[str, object], number: int, header: int | None
    ) -> Rule:
        name = self._name(given, number, header)

        def complain(key: str, what: str) -> None:
            line = None
            if header is not None:
                line = self._line_of(key, self._block(header)) or header + 1
            self._note(line, f"rule {name}: {key}" if key else f"rule {name}", what)

        for key in given.keys() - _RULE_KEYS:
            complain(_shown(key), _UNKNOWN)
        given = with_folders(given, self.folders, complain)
        conditions = [
            read(given[key], complain)
            for key, read in CONDITIONS.items()
            if key in given
        ]
        return Rule(
            name,
            _verdict(given, complain),
            _why(given, complain),
            tuple(one for one in conditions if not isinstance(one, Under)),
            read_words(given, complain),
            next((one for one in conditions if isinstance(one, Under)), None),
            read_resolved(given, complain),
            read_files(given, complain),
        )

    def _name(
        self, given: Mapping[str, object], number: int, header: int | None
    ) -> str:
        name = given.get("name", f"rule-{number}")
        line = None if header is None else header + 1
        where = f"rule {number}: name"
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            what = "expected up to 64 letters, digits, '.', '_' or '-'"
            self._note(line, where, what)
            return f"rule-{number}"
        if name in self.names:
            self._note(line, where, f"another rule is named {name}")
        self.names.add(name)
        return name

    # ── the other tables ──────────────────────────────────────────────────

    def _table(
        self, document: Mapping[str, object], name: str, keys: frozenset[str]
    ) -> Mapping[str, object]:
        given = document.get(name, {})
        if not isinstance(given, dict):
            self._note(self._line_in(name, ""), name, "expected a table")
            return {}
        for key in given.keys() - keys:
            self._note(self._line_in(name, key), f"{name}: {_shown(key)}", _UNKNOWN)
        return given

    def _kinds(
        self, document: Mapping[str, object], name: str, words: type[Word]
    ) -> dict[ActorKind, Word]:
        found: dict[ActorKind, Word] = {}
        for key, said in self._table(document, name, _KINDS).items():
            if key in _KINDS and isinstance(said, str) and said in list(words):
                found[ActorKind(key)] = words(said)
            elif key in _KINDS:
                what = f"expected {' or '.join(words)}"
                self._note(self._line_in(name, key), f"{name}: {key}", what)
        return found

    def _autonomy(self, document: Mapping[str, object]) -> dict[ActorKind, Verdict]:
        found = self._kinds(document, "autonomy", Verdict)
        if ActorKind.HUMAN in found:
            what = "humans climb no ladder: rules and the default are theirs"
            self._note(self._line_in("autonomy", "human"), "autonomy: human", what)
        return found

    def _named_folders(self, document: Mapping[str, object]) -> dict[str, list[object]]:
        given = document.get("folders", {})
        if not isinstance(given, dict):
            self._note(self._line_in("folders", ""), "folders", "expected a table")
            return {}
        found = {}
        for name, value in given.items():
            complain = self._complaint_about("folders")
            if not _NAME.fullmatch(name):
                complain(
                    _shown(name), "expected up to 64 letters, digits, '.', '_' or '-'"
                )
            read_folders(value, _shown(name), complain)
            found[name] = value if isinstance(value, list) else [value]
        return found

    def _plugins(self, document: Mapping[str, object]) -> tuple[str, ...]:
        given = self._table(document, "plugins", frozenset({"use"})).get("use", [])
        names = [given] if isinstance(given, str) else given
        if (
            isinstance(names, list)
            and len(names) <= MAX_PLUGINS
            and all(isinstance(name, str) and _NAME.fullmatch(name) for name in names)
        ):
            return tuple(dict.fromkeys(names))
        what = f"expected at most {MAX_PLUGINS} names of entry points"
        self._note(self._line_in("plugins", "use"), "plugins: use", what)
        return ()

    def _webhook(self, document: Mapping[str, object]) -> Webhook | None:
        if "webhook" not in document:
            return None
        given = self._table(document, "webhook", frozenset({"url", "timeout"}))
        url, timeout = given.get("url"), given.get("timeout", DEFAULT_TIMEOUT)
        if fault := _url_fault(url):
            self._note(self._line_in("webhook", "url"), "webhook: url", fault)
        # Asked this way round, what is not a number is refused as well.
        if type(timeout) not in (int, float) or not 0 < timeout <= MAX_TIMEOUT:  # type: ignore[operator]
            what = f"expected seconds, over 0 and at most {MAX_TIMEOUT}"
            self._note(self._line_in("webhook", "timeout"), "webhook: timeout", what)
            return None
        return Webhook(str(url), float(timeout))  # type: ignore[arg-type]

    def _turn(
        self, document: Mapping[str, object], budgets: Mapping[ActorKind, Budget]
    ) -> TurnRules:
        rules = read_turn(
            self._table(document, "turn", TURN_KEYS), self._complaint_about("turn")
        )
        limits = {
            kind: budget.turn_seconds
            for kind, budget in budgets.items()
            if budget.turn_seconds is not None
        }
        return replace(rules, kind_limits=limits)

    def _budgets(self, document: Mapping[str, object]) -> dict[ActorKind, Budget]:
        given = self._table(document, "budget", _KINDS)
        found = {}
        for kind in sorted(_KINDS & given.keys()):
            name = f"budget.{kind}"
            table = self._table({name: given[kind]}, name, BUDGET_KEYS)
            found[ActorKind(kind)] = read_budget(table, self._complaint_about(name))
        return found

    def _limits(self, document: Mapping[str, object]) -> dict[ActorKind, Limits]:
        given = self._table(document, "limits", _KINDS)
        found = {}
        for kind in sorted(_KINDS & given.keys()):
            name = f"limits.{kind}"
            table = self._table({name: given[kind]}, name, frozenset(EXPECTED))
            found[ActorKind(kind)] = limits_from(table, self._complaint_about(name))
        return found

    def _complaint_about(self, table: str) -> Complain:
        def complain(key: str, what: str) -> None:
            self._note(self._line_in(table, key), f"{table}: {key}", what)

        return complain

    # ── where it stands ───────────────────────────────────────────────────

    def _note(self, line: int | None, where: str, what: str) -> None:
        self.problems.append(Problem(line, where, what))

    def _block(self, header: int) -> range:
        """Return the lines that belong to the table which begins with `header`."""
        end = header + 1
        while end < len(self.lines) and not _TABLE.match(self.lines[end]):
            end += 1
        return range(header, end)

    def _line_in(self, table: str, key: str) -> int | None:
        header = re.compile(rf"[ \t]*\[[ \t]*{table}[ \t]*\]")
        for number, line in enumerate(self.lines):
            if header.match(line):
                return self._line_of(key, self._block(number)) or number + 1
        return self._line_of(table, range(len(self.lines)))

    def _line_of(self, key: str, lines: range) -> int | None:
        wanted = re.compile(rf"[ \t]*\[*[\"']?{re.escape(key)}[\"']?[ \t]*[=.\]]")
        return next((n + 1 for n in lines if wanted.match(self.lines[n])), None)


_SECTIONS = frozenset(
    {
        "autonomy",
        "default",
        "undecidable",
        "plugins",
        "webhook",
        "turn",
        "runtime",
        "limits",
        "budget",
        "folders",
        "rule",
    }
)
_KINDS = frozenset(kind.value for kind in ActorKind)
_RULE_KEYS = frozenset(
    {"name", "verdict", "why", *CONDITIONS, *WORDS, *FILES, *RESOLVED}
)
_UNKNOWN = "there is no such key"


def _verdict(given: Mapping[str, object], complain: Complain) -> Verdict:
    said = given.get("verdict")
    if isinstance(said, str) and said in list(Verdict):
        return Verdict(said)
    complain("verdict", "expected allow or deny or ask or preview")
    return Verdict.DENY


def _why(given: Mapping[str, object], complain: Complain) -> str:
    why = given.get("why", "")
    if isinstance(why, str) and len(why) <= MAX_TEXT and printable(why) == why:
        return why
    complain("why", f"expected one line of at most {MAX_TEXT} characters")
    return ""


def _url_fault(url: object) -> str | None:
    found = _URL.fullmatch(url) if isinstance(url, str) else None
    if found is None or int(found["port"] or 1) not in range(1, _MAX_PORT + 1):
        return "expected https://HOST[:PORT]/PATH, without a user or a fragment"
    if found["scheme"] == "http" and not _OUR_OWN.fullmatch(found["host"]):
        return "expected https: inputs would cross the network for all to read"
    return None


def _shown(key: str) -> str:
    return printable(key, 64)
