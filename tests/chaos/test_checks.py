"""Every check finds what was planted for it, and nothing in a sound history."""

import hashlib
import json
from collections.abc import Callable

import pytest
from tests.chaos import checks, report
from tests.chaos.history import Line

SESSION = "s_one"


def entry(index: int, kind: str, prev: str, **fields: object) -> str:
    whole = {"index": index, "prev": prev, "epoch": 2, "kind": kind, **fields}
    return json.dumps(whole)


def book() -> list[str]:
    """A book in which anna takes the turn, types, and bert seizes it."""
    typed = {"input": "keys", "verdict": "allow"}
    made: list[str] = []
    for kind, fields in (
        ("opened", {"epoch": 1}),
        ("turn", {"to": "anna"}),
        ("input", {**typed, "actor": "anna"}),
        ("settled", {"of": 2}),
        ("turn", {"to": "bert", "epoch": 3}),
        ("input", {**typed, "actor": "bert", "epoch": 3}),
    ):
        before = hashlib.sha256(made[-1].encode()).hexdigest() if made else ""
        made.append(entry(len(made), kind, before, **fields))
    return made


def sound() -> list[Line]:
    """A history in which every promise was kept."""
    call = {"do": "call", "session": SESSION, "client": "c_a"}
    leader = {"session": SESSION, "name": "typed", "pid": 7, "started": "99"}
    short = {"session": "s_short", "name": "short-1"}
    whole = "".join(f"line-{number}\r\n" for number in range(1, 9)) + "the end\r\n"
    moved = {"numbers": [1, 2, 3], "lives_at": ["beta"]}
    return [
        {"at": 0, "do": "began", **leader, "exits": None},
        {"at": 0, "do": "began", **short, "pid": 8, "started": "", "exits": 3},
        {"at": 1, **call, "sequence": 1, "token": "a-1"},
        {"at": 2, "do": "answer", "token": "a-1", "outcome": "applied", "index": 2},
        {"at": 3, **call, "sequence": 2, "token": "a-2"},
        {"at": 4, "do": "answer", "token": "a-2", "outcome": "refused", "code": "busy"},
        {"at": 5, **call, "sequence": 3, "token": "a-3"},
        {"at": 6, "do": "answer", "token": "a-3", "outcome": "applied", "index": 5},
        {"at": 6, "do": "run", "key": "key-1", "status": 4},
        {"at": 7, "do": "ran", "key": "key-1", "status": None, "code": "busy"},
        {"at": 8, "do": "ran", "key": "key-1", "status": 4},
        {"at": 8, "do": "fault", "kind": "kill", "victim": "keeper", "skipped": ""},
        {"at": 9, "do": "seen", "viewer": "near", "text": whole, "troubles": []},
        {"at": 9, "do": "seen", "viewer": "far", "text": whole, "troubles": []},
        {"at": 9, "do": "listed", **leader, "state": "running", "answers": True},
        {"at": 9, "do": "listed", **short, "state": "exited", "exit": 3},
        {"at": 9, "do": "tally", "tokens": ["a-1", "a-3"]},
        {"at": 9, "do": "effects", "keys": ["key-1"]},
        {"at": 9, "do": "printed", "lines": 8},
        {"at": 9, "do": "book", "name": "typed", "entries": book()},
        {"at": 9, "do": "ticks", "name": "counted", **moved},
    ]


def test_a_sound_history_breaks_no_promise() -> None:
    text, status = report.written(sound(), 1, 20)

    assert not any(checks.violations(sound()).values())
    assert status == 0
    assert "no promise was broken" in text


Spoil = Callable[[list[Line]], object]


def line(lines: list[Line], do: str, nth: int = 0) -> Line:
    return [one for one in lines if one["do"] == do][nth]


PLANTED: dict[str, tuple[str, Spoil]] = {
    "an acknowledged input that is lost": (
        "applied exactly once",
        lambda lines: line(lines, "tally")["tokens"].remove("a-3"),
    ),
    "an input that was applied twice": (
        "applied exactly once",
        lambda lines: line(lines, "tally")["tokens"].append("a-1"),
    ),
    "an input that was refused and applied": (
        "applied exactly once",
        lambda lines: line(lines, "tally")["tokens"].append("a-2"),
    ),
    "an input that nobody made": (
        "applied exactly once",
        lambda lines: line(lines, "tally")["tokens"].append("zoe-1"),
    ),
    "inputs in another order than they were answered": (
        "one order",
        lambda lines: line(lines, "tally")["tokens"].reverse(),
    ),
    "indices against the order of time": (
        "one order",
        lambda lines: line(lines, "answer").update(index=9),
    ),
    "a command that ran twice": (
        "a command runs once",
        lambda lines: line(lines, "effects")["keys"].append("key-1"),
    ),
    "a command that ended otherwise": (
        "a command runs once",
        lambda lines: line(lines, "ran", 1).update(status=0),
    ),
    "a command that never ran": (
        "a command runs once",
        lambda lines: line(lines, "effects")["keys"].clear(),
    ),
    "an input without the turn": (
        "one operator writes",
        lambda lines: spoil_book(lines, 5, actor="anna"),
    ),
    "an epoch that goes down": (
        "one operator writes",
        lambda lines: spoil_book(lines, 5, epoch=1),
    ),
    "an entry that was taken out": (
        "every logbook is whole",
        lambda lines: line(lines, "book")["entries"].pop(3),
    ),
    "an entry that was rewritten": (
        "every logbook is whole",
        lambda lines: spoil_book(lines, 1, to="zoe"),
    ),
    "a line that a viewer missed": (
        "no output is lost",
        lambda lines: spoil_text(lines, "line-4\r\n", ""),
    ),
    "the last lines that all viewers missed": (
        "no output is lost",
        lambda lines: line(lines, "printed").update(lines=9),
    ),
    "a line that came twice": (
        "no output is lost",
        lambda lines: spoil_text(lines, "line-4\r\n", "line-4\r\nline-4\r\n"),
    ),
    "a byte at another place": (
        "no output is lost",
        lambda lines: line(lines, "seen")["troubles"].append("byte 9 after 4"),
    ),
    "a session that is gone": (
        "no session is lost",
        lambda lines: lines.remove(line(lines, "listed")),
    ),
    "a session that was lost": (
        "no session is lost",
        lambda lines: line(lines, "listed").update(state="lost"),
    ),
    "a session that does not answer": (
        "no session is lost",
        lambda lines: line(lines, "listed").update(answers=False),
    ),
    "a session with another leader": (
        "no session is lost",
        lambda lines: line(lines, "listed").update(started="100"),
    ),
    "a status that nobody knows": (
        "no exit status is lost",
        lambda lines: lines.remove(line(lines, "listed", 1)),
    ),
    "another status than it had": (
        "no exit status is lost",
        lambda lines: line(lines, "listed", 1).update(exit=0),
    ),
    "a session that counted twice": (
        "a session lives once",
        lambda lines: line(lines, "ticks")["numbers"].append(3),
    ),
    "a session that lives at two hosts": (
        "a session lives once",
        lambda lines: line(lines, "ticks")["lives_at"].append("alpha"),
    ),
    "a session that lives nowhere": (
        "a session lives once",
        lambda lines: line(lines, "ticks")["lives_at"].clear(),
    ),
}


def spoil_book(lines: list[Line], index: int, **fields: object) -> None:
    entries = line(lines, "book")["entries"]
    entries[index] = json.dumps({**json.loads(entries[index]), **fields})


def spoil_text(lines: list[Line], old: str, new: str) -> None:
    seen = line(lines, "seen")
    seen["text"] = seen["text"].replace(old, new)


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_violation_is_found_by_its_check(planted: str) -> None:
    check, spoil = PLANTED[planted]
    lines = sound()

    spoil(lines)

    broken = [name for name, wrong in checks.violations(lines).items() if wrong]
    assert any(check in name for name in broken), broken
    text, status = report.written(lines, 1, 20)
    assert status == 1
    assert "BROKEN" in text


def test_the_death_of_a_holder_may_cost_one_read_and_no_more() -> None:
    lines = sound()
    fault = {"do": "fault", "kind": "kill", "victim": "holder of printed"}
    lines.append({"at": 1, **fault, "skipped": ""})
    for seen in [one for one in lines if one["do"] == "seen"]:
        seen["text"] = seen["text"].replace("line-4\r\n", "")
    assert not checks.violations(lines)["no output is lost"]

    for seen in [one for one in lines if one["do"] == "seen"]:
        seen["text"] = seen["text"].replace("line-6\r\n", "")
    assert checks.violations(lines)["no output is lost"]


def test_the_report_counts_faults_by_kind_and_says_what_was_left_out() -> None:
    lines = sound()
    why = {"skipped": "only root can mount a small disk"}
    lines.append({"at": 1, "do": "fault", "kind": "fill the disk", "victim": "", **why})

    text, _ = report.written(lines, 5, 20)

    assert "chaos: seed 5" in text
    assert "1 faults injected" in text
    assert "   1  kill" in text
    assert "fill the disk: not injected, only root" in text
