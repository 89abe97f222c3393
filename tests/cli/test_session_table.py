"""The table of sessions, on wide terminals and on narrow ones."""

import pytest

from holdfast.cli import session_table
from holdfast.cli.session_table import as_tree, row, state_told
from holdfast.model.ids import SessionId
from holdfast.model.session_record import ParentRecord, SessionRecord

NOW = 1_000_000.0
FACTS: dict[str, object] = {
    "id": "s_aaaaaaaaaaaaaaaa",
    "state": "running",
    "exit": None,
    "keep": False,
    "dozing": False,
    "idle_ms": 0,
    "doing": "waiting-for-secret",
    "turn_of": "annamaria-of-the-hills",
    "attached": ["annamaria-of-the-hills", "bot", "bot"],
    "output_ms": 999_880_000,
    "created_ms": 900_000_000,
    "command": ["make", "-j2", "some-target", "another-target", "a-third-target"],
}


def rows(name: str = "build") -> list[tuple[str, ...]]:
    return [row(name, FACTS, NOW), row("a", {**FACTS, "attached": []}, NOW)]


def test_a_row_has_who_has_the_turn_who_is_here_and_when_it_printed() -> None:
    told = row("build", FACTS, NOW)

    assert told[session_table.TURN] == "annamaria-of-the-hills"
    assert told[session_table.ATTACHED] == "annamaria-of-the-hills, bot (2)"
    assert told[session_table.OUTPUT] == "2m"
    assert told[session_table.AGE] == "1d"


def test_a_capsule_is_marked_while_it_lives() -> None:
    walled = {**FACTS, "runtime": "capsule"}

    told = row("box", walled, NOW)[session_table.STATE]
    assert told == "waiting-for-secret, capsule"
    told = row("box", {**walled, "exit": 0}, NOW)[session_table.STATE]
    assert told == "exited 0"


def test_what_is_not_known_is_a_dash() -> None:
    blank = {**FACTS, "turn_of": "", "attached": [], "output_ms": 0}
    told = row("build", blank, NOW)

    assert told[3:6] == ("-", "-", "-")
    over = row("build", {**FACTS, "exit": 0, "state": "exited"}, NOW)
    assert over[session_table.OUTPUT] == "-"


def test_what_dozes_printed_before_it_fell_asleep() -> None:
    asleep = {**FACTS, "output_ms": 0, "idle_ms": 999_400_000, "dozing": True}

    assert row("build", asleep, NOW)[session_table.OUTPUT] == "10m"


@pytest.mark.parametrize("room", [20, 60, 80, 100, 132, 500])
@pytest.mark.parametrize("name", ["b", "build", "n" * 64])
def test_no_line_is_longer_than_the_terminal(room: int, name: str) -> None:
    assert all(len(one) <= room for one in session_table.lines(rows(name), room))


def test_eighty_columns_have_everything_but_id_and_age() -> None:
    title, first, _ = session_table.lines(rows("n" * 64), 80)

    assert title.split() == ["NAME", "STATE", "TURN", "ATTACHED", "OUTPUT", "COMMAND"]
    assert "waiting-for-secret" in first
    assert "2m" in first


def test_a_wide_terminal_and_a_pipe_have_all() -> None:
    wide, piped = (session_table.lines(rows(), room) for room in (300, 0))

    assert wide == piped
    assert wide[0].split() == [*session_table.TITLES]


def test_ids_go_before_ages_and_both_before_the_rest_is_cut() -> None:
    calm = [
        row("web", {**FACTS, "turn_of": "", "attached": [], "command": ["sh"]}, NOW)
    ]
    whole = len(session_table.lines(calm, 0)[1])

    title = session_table.lines(calm, whole + 10)[0].split()
    assert title == [*session_table.TITLES]
    title = session_table.lines(calm, whole - 1)[0].split()
    assert "ID" not in title
    assert "AGE" in title


@pytest.mark.parametrize(
    ("state", "doing", "marks", "told"),
    [
        ("running", "at-prompt", {}, "at-prompt"),
        ("running", "at-prompt", {"keep": True}, "at-prompt, kept"),
        ("running", "at-prompt", {"dozing": True}, "at-prompt, dozing"),
        ("running", "", {"dozing": True}, "dozing"),
        ("running", "", {}, "not known"),
        ("", "", {}, "not known"),
        ("stalled", "", {}, "stalled"),
        ("starting", "starting", {}, "starting"),
        ("frozen", "running", {}, "frozen"),
        ("running", "\x1b[2J", {}, r"\x1b[2J"),
    ],
)
def test_a_state_is_told_in_the_words_of_state(
    state: str, doing: str, marks: dict[str, bool], told: str
) -> None:
    asked = {"keep": False, "dozing": False, **marks}

    assert state_told(state, None, doing=doing, **asked) == told


def session(name: str, parent: str = "", host: str = "") -> SessionRecord:
    of = ParentRecord(parent) if parent else None
    return SessionRecord(SessionId(name), name, parent=of, host=host)


def test_a_branch_stands_below_its_parent() -> None:
    known = [
        *(session("a"), session("b"), session("c", "a"), session("d", "c")),
        *(session("e", "a"), session("f", "gone"), session("g", "a", "box")),
    ]

    told = [f"{mark}{one.id}" for mark, one in as_tree(known)]

    assert told == ["a", "├─ c", "│  └─ d", "└─ e", "b", "f", "g"]


def test_sessions_that_are_said_to_be_each_others_branches_are_listed() -> None:
    known = [session("a", "b"), session("b", "a"), session("c")]

    assert {one.id for _, one in as_tree(known)} == {"a", "b", "c"}
