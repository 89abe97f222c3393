"""Write docs/reference/policy.md from the reader of policies.

What a key accepts is what the reader says when it is given something else; what the
key means is taken from the table in docs/spec/policy.md.

python -m tools.write_policy_reference            write it
python -m tools.write_policy_reference --check    exit 1 if it is out of date
"""

import re
from collections.abc import Callable
from pathlib import Path

from tools.generated import write

from holdfast.core.capsule.runtime_choice import Runtime
from holdfast.core.input.budget import Budget
from holdfast.core.policy import policy_file
from holdfast.core.policy.policy import Policy
from holdfast.core.policy.policy_file import examine
from holdfast.core.policy.policy_limits import BUDGET_KEYS, TURN_KEYS
from holdfast.core.policy.rule_keys import CONDITIONS, FILES, RESOLVED, WORDS
from holdfast.model.actors import ActorKind
from holdfast.model.limits import EXPECTED

DOCS = Path(__file__).parent.parent / "docs"
TARGET = DOCS / "reference" / "policy.md"
MEANT = re.compile(r"^\| ((?:`\w+` ?)+)\| ([^|]+) \|$", re.MULTILINE)
SEVERAL = "a text, or 1 to 256 texts in a list"
OTHERS = {"timeout": '\nurl = "https://localhost/"'}
"""What a table must have besides a key."""

BAD = ("1.5", "[]", '"\\u0001"', '{"x" = 1}')
"""Values that some reader refuses, and says what it expected."""

INTRODUCTION = f"""\
# The policy file

For people who write `policy.toml` and look up a key.

`holdfast gate check FILE` names every mistake of a file with its line, \
`holdfast gate test` tries an input against it, and `holdfast gate apply` puts it in \
force.
What each key means exactly, and to which verdict, is in \
[the specification](../spec/policy.md); [policy.toml](../examples/policy.toml) is a \
policy to start from.
A file has at most {policy_file.MAX_FILE:,} bytes and {policy_file.MAX_RULES:,} rules.
`tools/write_policy_reference.py` writes this page from the code.
"""


def text() -> str:
    """Return the whole page."""
    return "\n".join([INTRODUCTION, *_tables(), _rules()])


def _tables() -> list[str]:
    usual = Policy()
    kinds = [kind.value for kind in ActorKind]
    turn = {
        "limit": "none" if usual.turn.limit is None else f"`{usual.turn.limit:g}`",
        "grace": f"`{usual.turn.grace:g}`",
        "ask": f'`"{usual.turn.ask_default.value}"`',
        "next": f'`"{usual.turn.next_rule.__name__.replace("_", "-")}"`',
    }
    verdicts = {kind.value: f'`"{told}"`' for kind, told in usual.default.items()}
    undecidable = {
        kind.value: f'`"{usual.when_undecidable(kind)}"`' for kind in ActorKind
    }
    capsules = "a capsule, where the machine can make one"
    runtime = dict.fromkeys(kinds, capsules) | {"human": f'`"{Runtime.PLAIN}"`'}
    none = dict.fromkeys(sorted({*TURN_KEYS, *BUDGET_KEYS, *EXPECTED}), "none")
    return [
        _table("default", "what counts where no rule fits", verdicts),
        _table("undecidable", "what counts where nobody can tell", undecidable),
        _table("turn", "how long a turn lasts, and what silence means", turn),
        _table("runtime", "how sessions run that such an actor starts", runtime),
        _table(
            "limits.KIND",
            "the most that a session of such an actor may use",
            {key: none[key] for key in EXPECTED},
        ),
        _table(
            "budget.KIND",
            "how much such an actor may do",
            {key: none[key] for key in _in_order(Budget)},
        ),
        _table("plugins", "Python plug-ins that are asked", {"use": "none"}),
        _table(
            "webhook",
            "a service that is asked",
            {"url": "none", "timeout": f"`{policy_file.DEFAULT_TIMEOUT:g}`"},
        ),
        _table("folders", "names for folders, used as `@NAME`", {"NAME": "none"}),
    ]


def _in_order(shape: type[Budget]) -> list[str]:
    return [name for name in shape.__dataclass_fields__ if name in BUDGET_KEYS]


def _table(name: str, what: str, keys: dict[str, str]) -> str:
    header = f"[{name.replace('KIND', 'agent')}]"
    rows = [
        f"| `{key}` | {accepted(header + OTHERS.get(key, ''), key)} | {usual} |"
        for key, usual in keys.items()
    ]
    head = ["| key | accepts | if not given |", "| --- | --- | --- |"]
    return "\n".join(
        [f"## `[{name}]`\n", f"{what[0].upper()}{what[1:]}.\n", *head, *rows, ""]
    )


def _rules() -> str:
    meaning = meanings()
    rows = [
        f"| `{key}` | {accepted(RULE, key)} | {meaning[key]} |"
        for key in (*CONDITIONS, *sorted(WORDS), *sorted(FILES), *sorted(RESOLVED))
    ]
    own = [
        f"| `verdict` | {accepted('[[rule]]', 'verdict')} | required |",
        f"| `name` | {accepted(RULE, 'name')} | `rule-N` for the N-th if not given |",
        f"| `why` | {accepted(RULE, 'why')} | shown with the verdict |",
    ]
    lead = (
        "All keys that are given must fit."
        f" A value is {SEVERAL}, of which one has to fit.\n"
    )
    head = ["| key | accepts | what fits |", "| --- | --- | --- |"]
    return "\n".join(["## `[[rule]]`\n", lead, *head, *own, *rows, ""])


RULE = '[[rule]]\nverdict = "deny"'


def accepted(table: str, key: str) -> str:
    """Return what the reader says it expected when it was given nonsense."""
    said: list[str] = []
    for value in BAD:
        _, problems = examine(f"{table}\n{key} = {value}\n".encode())
        said += [problem.what for problem in problems]
    found = [re.sub(r", not '.*'$", "", one) for one in said if "expected" in one]
    short = [one.partition("expected ")[2] for one in found]
    short += ["patterns" for one in said if "is not a pattern" in one]
    short = [one for one in short if one != SEVERAL]
    if not short:
        raise LookupError(f"nothing is said of {key} in {table}")
    return " or ".join(dict.fromkeys(map(_of_words(table, key), short)))


def _of_words(table: str, key: str) -> Callable[[str], str]:
    """Return what leaves out the words of a list that are refused after all."""

    def checked(said: str) -> str:
        words = said.removeprefix("one of ").replace(", ", " or ").split(" or ")
        if len(words) == 1 or not all(re.fullmatch("[a-z-]+", one) for one in words):
            return said
        told = [f'{table}\n{key} = "{one}"\n' for one in words]
        return ", ".join(
            f"`{word}`"
            for word, one in zip(words, told, strict=True)
            if examine(one.encode())[0] is not None
        )

    return checked


def meanings() -> dict[str, str]:
    """Return what each key of a rule means, by the specification's table."""
    page = (DOCS / "spec" / "policy.md").read_text("utf-8")
    table = page.split("2.3 ")[1].split("2.4 ")[0]
    return {
        key: what.strip()
        for keys, what in MEANT.findall(table)
        for key in re.findall(r"`(\w+)`", keys)
    }


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
