import pytest

from holdfast.core.overview.sessions import (
    Look,
    Row,
    age,
    fits,
    look_from,
    ordered,
    refreshed,
    row_from,
    row_of_lost,
    walled,
)
from holdfast.model.ids import SessionId
from holdfast.model.lost_record import LostRecord

FACTS = {
    "id": "s_abc",
    "name": "build",
    "state": "running",
    "exit": None,
    "command": ["make", "all"],
    "created_ms": 5000,
    "size": [80, 24],
    "keep": True,
    "dozing": False,
}


def row(need: str = "", at: int = 0, **more: object) -> Row:
    looks = {
        "approval": Look(pending_count=1),
        "secret": Look(state="waiting-for-secret"),
        "input": Look(state="waiting-for-input"),
        "turn": Look(waiting=1),
        "frozen": Look(is_frozen=True),
    }
    made = Row("", f"s_{need}{at}", need or "calm", created_ms=at, look=looks.get(need))
    if need == "attention":
        made = made._replace(attention="done")
    if need == "over":
        made = made._replace(exit=0)
    return made._replace(**more)  # type: ignore[arg-type]  # fields of it


def test_a_session_is_read_from_what_its_keeper_lists() -> None:
    assert row_from(FACTS) == Row(
        "", "s_abc", "build", "running", None, "make all", 5000, (80, 24), is_kept=True
    )


def test_one_that_was_recovered_is_known_as_such() -> None:
    found = row_from({"id": "s_abc", "recovered_ms": 5})

    assert found is not None
    assert found.is_reconstructed


def test_one_without_a_name_is_called_by_its_id_and_one_elsewhere_by_its_address() -> (
    None
):
    found = row_from({"id": "s_abc"}, "laptop")

    assert found is not None
    assert (found.label, found.key) == ("laptop/s_abc", ("laptop", "s_abc"))


@pytest.mark.parametrize("facts", [None, [], {}, {"id": 7}, "s_abc"])
def test_what_is_no_session_is_none(facts: object) -> None:
    assert row_from(facts) is None


def test_facts_of_other_types_are_taken_as_missing() -> None:
    odd = dict.fromkeys(FACTS, object()) | {"id": "s_abc", "attention": 3, "size": [1]}
    found = row_from(odd)

    assert found == Row("", "s_abc", "s_abc", exit=0)


def test_hostile_names_commands_and_calls_are_inert() -> None:
    found = row_from(
        {
            "id": "s_\x1b[2J",
            "name": "\u202eevil\x1b",
            "state": "\x07",
            "command": ["\x1b]0;x\x07", 3],
            "attention": {"what": "message", "text": "\x1b[2J\u202e"},
        }
    )

    assert found is not None
    told = f"{found.label}{found.told_state}{found.command}{found.told_need}"
    assert told.isprintable()
    assert found.attention


def test_a_call_without_words_is_told_by_its_kind() -> None:
    called = row_from({"id": "s_a", "attention": {"what": "bell"}})
    calm = row_from({"id": "s_a", "attention": {"what": ""}})

    assert called is not None
    assert calm is not None
    assert (called.told_need, calm.told_need) == ("calls: bell", "")


def test_those_that_need_somebody_come_first_and_then_the_newest() -> None:
    needs = ("approval", "secret", "attention", "input", "turn", "frozen")
    rows = [row(), row(at=9), *(row(one) for one in reversed(needs)), row("over")]

    found = [(one.need, one.created_ms) for one in ordered(rows)]

    assert found == [*((one, 0) for one in needs), ("", 9), ("", 0), ("over", 0)]
    assert ordered(reversed(rows)) == ordered(rows)


def test_what_is_needed_is_told_in_words() -> None:
    assert row("approval").told_need == "waits for approval"
    assert row(look=Look(pending_count=3)).told_need == "3 wait for approval"
    assert row("secret").told_need == "asks for a secret"
    assert row("attention").told_need == "done"
    assert row().told_need == ""


def test_a_start_that_waits_needs_approval() -> None:
    assert row(state="starting").need == "approval"


def test_a_program_that_may_wait_for_input_needs_nobody_for_sure() -> None:
    unsure = row(look=Look(state="waiting-for-input", is_sure=False))

    assert (unsure.need, unsure.told_state) == ("", "waiting-for-input?")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (row(exit=3), "exited 3"),
        (row(exit=-9), "killed 9"),
        (row(is_dozing=True), "dozing"),
        (row("frozen"), "frozen"),
        (row(state="stalled"), "stalled"),
        (row(), "running"),
        (row("secret"), "waiting-for-secret"),
    ],
)
def test_a_state_is_told_in_a_word(made: Row, told: str) -> None:
    assert made.told_state == told


def test_a_session_that_its_keeper_calls_frozen_is() -> None:
    assert row(state="frozen").is_frozen
    assert not row().is_frozen


def test_what_waits_is_known_once_it_was_looked_at() -> None:
    assert row().pending == ()
    assert row("approval").pending == ()


def test_what_the_keeper_was_told_is_known_without_a_look() -> None:
    told = {"doing": "at-prompt", "turn_of": "ann", "attached": ["ann", "ann", 3]}
    found = row_from({**FACTS, **told})

    assert found is not None
    assert (found.told_state, found.turn, found.crowd) == ("at-prompt", "ann", 1)
    assert found._replace(state="stalled").told_state == "stalled"


def test_a_look_is_newer_than_that_and_a_list_is_newer_than_the_look() -> None:
    look = Look(state="running", is_sure=False, turn="robo", is_ours=True, attached=2)
    made = row(doing="at-prompt", turn_of="ann", attached=("ann",), look=look)

    assert (made.told_state, made.turn, made.crowd) == ("running?", "robo", 2)
    assert refreshed(made, look) == Look(state="at-prompt", turn="ann", attached=1)
    assert refreshed(made, None) is None
    assert refreshed(row(), look) == look
    same = made._replace(doing="running", turn_of="robo", attached=("robo", "ann"))
    assert refreshed(same, look) == look


def test_what_dozes_and_had_asked_for_a_secret_still_does() -> None:
    made = row(is_dozing=True, state="running", doing="waiting-for-secret")

    assert (made.need, made.told_state) == ("secret", "dozing")
    assert made._replace(look=Look(state="running")).need == "secret"


def test_on_the_wall_the_urgent_and_the_awake_come_first_and_stay_in_place() -> None:
    rows = [row(at=3), row("over"), row(at=1, is_dozing=True), row("secret"), row(at=2)]

    assert [one.id for one in walled(rows)] == ["s_secret0", "s_2", "s_3", "s_1"]


def test_a_session_is_found_by_all_words() -> None:
    made = row("secret", name="build", command="make all", host="laptop")

    assert fits(made, "")
    assert fits(made, "LAP make")
    assert fits(made, "secret")
    assert not fits(made, "make none")


def test_a_host_tells_what_it_found_out() -> None:
    look = look_from(
        {
            "state": "idle",
            "turn": {"name": "ann", "actor": "a_x"},
            "here": [{"name": "ann"}, {"name": ""}, 7],
            "count": 3,
            "pending": 2,
            "waiting": 1,
            "frozen": True,
            "program": "vi",
            "last_line": "$ \x1b",
        }
    )

    assert (look.turn, look.here, look.attached) == (
        "ann",
        ("ann", "unknown", "unknown"),
        3,
    )
    assert (look.pending_count, look.waiting, look.is_frozen) == (2, 1, True)
    assert look.state == "idle in vi"
    assert look.picture is not None
    assert look.picture.rows[0][0][0] == "$ \\x1b"


def test_a_host_that_tells_nothing_or_nonsense_has_found_nothing_out() -> None:
    assert look_from({}) == Look()
    odd = dict.fromkeys(("state", "turn", "here", "count", "last_line"), 1.5)
    assert look_from(odd) == Look()


def test_an_operator_without_a_name_is_told_by_its_id() -> None:
    assert (
        look_from({"turn": {"name": "", "actor": "a_abcdefghij"}}).turn == "a_abcdef…"
    )


def test_an_age_is_told_in_its_largest_unit() -> None:
    told = [age(one) for one in (0, 1, 61, 7200, 200_000)]

    assert told == ["now", "1s", "1m", "2h", "2d"]


def test_what_no_process_has_is_over_and_needs_nobody() -> None:
    session = SessionId("s_" + "a" * 16)
    lost = LostRecord(session, "web\x1b", 20, ("sh", "\x1b[2J"), why="no \x1brecords")
    row = row_of_lost(lost)

    assert row.key == ("", session)
    assert (row.told_state, row.need, row.is_over) == ("lost", "over", True)
    assert row.hindrance == "no \\x1brecords"
    assert "\x1b" not in row.name + row.command
    stopped = lost._replace(image=2, why="it is on disk", name="", host="box")
    row = row_of_lost(stopped)
    assert (row.told_state, row.image, row.hindrance) == ("on disk", 2, "")
    assert row.label == f"box/{session}"
    assert walled([row]) == []
