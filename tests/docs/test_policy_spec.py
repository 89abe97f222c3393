import re
from dataclasses import replace
from os.path import normpath
from pathlib import Path

import pytest

from holdfast.core.input.budget import RESIZES_PER_SECOND
from holdfast.core.input.serializer import QUEUE_INPUTS
from holdfast.core.input.turn import MAX_WAITING, NEXT_RULES
from holdfast.core.policy.named_paths import every_path
from holdfast.core.policy.policy import commands_in, document, judge
from holdfast.core.policy.policy_file import read_policy
from holdfast.core.policy.policy_limits import BUDGET_KEYS, TURN_KEYS
from holdfast.core.policy.rule_keys import CONDITIONS, FILES, WORDS
from holdfast.holder.links.attached_clients import (
    KEPT_FOR_HUMANS,
    MAX_CLIENTS,
    MAX_CLIENTS_EACH,
)
from holdfast.keeper.checks import LIMIT, MAX_SESSIONS
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import DAYS, LocalTime, Question

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/spec/policy.md").read_text("utf-8")
POLICY = read_policy(PAGE.split("```toml\n")[1].split("```")[0].encode())
ROW = re.compile(
    r"^\| (human|agent|service|device) \| (\w+) \| `(.*)` \| ([^|]*)"
    r"\| (\w+) \| `(.+)` \|$",
    re.MULTILINE,
)
ROWS = ROW.findall(PAGE)
ESCAPED = re.compile(r"\\(x[0-9a-f]{2}|[re|n])")
MEANT = {"r": b"\r", "e": b"\x1b", "|": b"|", "n": b"\n"}


def payload_of(shown: str) -> bytes:
    parts = ESCAPED.split(shown)
    return b"".join(
        MEANT.get(part) or bytes.fromhex(part[1:]) if odd % 2 else part.encode()
        for odd, part in enumerate(parts)
    )


def facts(where: str) -> dict[str, str | None]:
    found = re.findall(r"(\w+) (?:`([^`]*)`|\?)", where)
    return {key: value or None for key, value in found}


def question(row: tuple[str, ...]) -> Question:
    kind, given, shown, where, _, _ = row
    said = {"actor": "bot", "cwd": "/src", "session": "build", "staged": "", "time": ""}
    said |= {"reader": "shell", "shell": "bash"}
    known = {**said, **facts(where)}
    day, _, hour = (known["time"] or "mon 12:00").partition(" ")
    hours, _, minutes = hour.partition(":")
    staged = known["staged"]
    return Question(
        actor=Actor(actor_id(b"somebody"), ActorKind(kind), str(known["actor"])),
        kind=InputKind(given),
        payload=payload_of(shown),
        session=SessionId("s_" + "a" * 16),
        session_name=str(known["session"]),
        clock=LocalTime(int(hours) * 60 + int(minutes), DAYS.index(day)),
        cwd=known["cwd"],
        shell=str(known["shell"] or ""),
        folders={"sub": leads} if (leads := known.get("leads")) else {},
        staged=None if staged is None else staged.encode(),
        shell_reads=known["reader"] is not None,
    )


REACH = PAGE.split("14.11 ")[1].partition("\n## ")[0]
REACHING = read_policy(REACH.split("```toml\n")[1].split("```")[0].encode())
LINES = re.findall(r"^\| `(.*)` \| (\w+) \| `(.+)` \|$", REACH, re.MULTILINE)
LISTED = {"": ("a.py", "b.py")}


def led(text: str) -> str:
    path = normpath(Path("/home/ann/src") / text)
    return path.replace("/home/ann/src/link", "/home/ann/.ssh")


def reaching(line: str) -> Question:
    asked = question(("agent", "command", line, "", "", ""))
    asked = replace(asked, shell="bash")  # noqa: S604  # the one that reads it
    named = every_path(commands_in(asked))
    paths = {
        one: tuple(map(led, [one.text] if one.tail is None else LISTED[one.text]))
        for one in named
    }
    return replace(asked, cwd="/home/ann/src", home="/home/ann", paths=paths)


def test_the_lines_are_found() -> None:
    assert len(LINES) == REACH.count("\n| ") - 2


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0])
def test_every_line_is_judged_as_the_page_says(line: tuple[str, str, str]) -> None:
    judgement = judge(REACHING, reaching(line[0]))

    assert (judgement.verdict.value, judgement.rule) == line[1:]


def test_the_examples_are_found() -> None:
    assert len(ROWS) == PAGE.split("## 5.")[1].split("## 6.")[0].count("\n| ") - 2


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]} {row[3]}")
def test_every_example_is_judged_as_the_page_says(row: tuple[str, ...]) -> None:
    judgement = judge(POLICY, question(row))

    assert (judgement.verdict.value, judgement.rule) == row[4:]


@pytest.mark.parametrize("key", sorted([*CONDITIONS, *WORDS, *FILES]))
def test_every_key_of_a_rule_is_specified(key: str) -> None:
    table = PAGE.split("2.3 ")[1].split("2.4 ")[0]

    assert f"`{key}`" in table


def test_every_member_of_the_document_is_specified() -> None:
    table = PAGE.split("6.1 ")[1].split("6.2 ")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(
        document(question(ROWS[0]))
    )


@pytest.mark.parametrize("key", sorted([*TURN_KEYS, *BUDGET_KEYS]))
def test_every_key_about_turns_and_budgets_is_specified(key: str) -> None:
    table = "turn" if key in TURN_KEYS else "budget.KIND"

    assert f"| `[{table}]` | `{key}` |" in PAGE.split("2.3 ")[0]


def test_every_rule_for_the_next_is_specified() -> None:
    assert re.findall(r"`\[turn\]` \| `next` \| (.*);", PAGE) == [
        ", or ".join(f'`"{word}"`' for word in NEXT_RULES)
    ]


def test_the_quotas_are_those_of_the_code() -> None:
    table = PAGE.split("10.7 ")[1]

    for quota in (RESIZES_PER_SECOND, MAX_CLIENTS, MAX_CLIENTS_EACH, QUEUE_INPUTS):
        assert f"| {quota}" in table
    assert f"{KEPT_FOR_HUMANS} are kept for humans" in table
    assert f"| {MAX_SESSIONS:,}, or `{LIMIT}`" in table
    assert f"| {MAX_WAITING} | `too-many-pending` |" in table
