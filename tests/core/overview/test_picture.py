import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.overview.overview_world import ASKS, WAITS, World, row

from holdfast.core.overview.acts import HostLost, Resized, Told
from holdfast.core.overview.geometry import Rect
from holdfast.core.overview.picture import Drawing, Target, draw_picture
from holdfast.core.overview.sessions import Look, Preview, Row, Span, row_from
from holdfast.term.canvas import Canvas, Style, difference
from holdfast.term.looks import Look as Looks

NOW = 61_000
SHOWN = Preview(80, ((("$ make", Style()),), (("done", Style(3)),)), 1)


def drawn(world: World) -> Drawing:
    return Drawing(world.overview, NOW)


def lines(world: World) -> list[str]:
    canvas = drawn(world).canvas
    return [canvas.text(at).rstrip() for at in range(canvas.rows)]


def text(world: World) -> str:
    return "\n".join(lines(world))


def picture(*rows: str, cursor: int = 0) -> Preview:
    made: list[tuple[Span, ...]] = [((one, Style()),) for one in rows]
    return Preview(80, tuple(made), cursor)


# ── the list ──────────────────────────────────────────────────────────────────


def test_each_session_has_a_row_with_all_that_is_known() -> None:
    world = World()
    world.lists(row("build", command="make all", size=(80, 24), is_kept=True))
    world.look("build", Look(state="running", turn="robo", attached=2, picture=SHOWN))

    found = lines(world)

    assert found[0] == " holdfast  1 session"
    assert found[1].split() == ["NAME", "STATE", "TURN", "HERE", "AGE", "WHAT"]
    assert found[2].split() == ["build", "running", "robo", "2", "1m", "make", "all"]
    assert found[-1].startswith("Enter attach  a approvals")
    assert "80x24, kept, robo has the turn, make all" in text(world)
    assert "$ make\ndone" in text(world)


def test_one_that_was_lost_and_begun_again_says_so() -> None:
    world = World()
    world.lists(row("build", command="make all", size=(80, 24), is_reconstructed=True))

    assert "80x24, reconstructed, make all" in text(world)


def test_what_needs_somebody_is_first_and_marked_without_colours_too() -> None:
    world = World("a", "b")
    world.look("b", ASKS)

    found = lines(world)

    assert found[0].endswith("1 needs attention")
    assert found[2].startswith("! b")
    assert "waits for approval" in found[2]
    world.look("a", Look(state="waiting-for-secret"))
    assert lines(world)[0].endswith("2 need attention")
    assert lines(world)[3].startswith("* a")


def test_who_is_attached_and_who_waits_is_told_of_the_selected_one() -> None:
    world = World("a")
    here = Look(
        here=("ann", "robo"),
        attached=3,
        turn="ann",
        is_ours=True,
        waiting=2,
        error="slow",
    )
    world.look("a", here)

    assert "slow, you have the turn, attached: ann, robo and 1 more, 2 wait" in text(
        world
    )
    world.look("a", here._replace(attached=2, turn="", is_ours=False, error=""))
    assert "the turn is free, attached: ann, robo, 2 wait" in text(world)


def test_the_selected_row_is_inverse() -> None:
    canvas = drawn(World("a", "b")).canvas

    assert canvas.cells[2][0][1].look & Looks.INVERSE
    assert not canvas.cells[3][0][1].look & Looks.INVERSE


def test_a_narrow_list_leaves_out_what_matters_least() -> None:
    world = World("a", columns=20, lines=5)
    world.look("a", ASKS)

    assert lines(world)[1].split() == ["!", "a", "running"]


def test_a_wide_terminal_has_the_picture_beside_the_list() -> None:
    world = World("a", columns=160, lines=40)
    world.look("a", Look(picture=SHOWN))

    assert "│$ make" in text(world)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (row("a", exit=0), "it has ended"),
        (row("a", gone="lost"), "Enter starts it again"),
        (row("a", gone="on disk", image=1), "Enter restores it"),
        (row("a", gone="lost", hindrance="no records"), "no records"),
        (row("a", gone="lost", hindrance="x", saved=1), "x; i restores"),
        (row("a", is_dozing=True), "asleep"),
        (row("a"), "looking…"),
        (row("a", look=Look(error="no answer")), "no answer"),
    ],
)
def test_without_a_picture_it_says_why(made: Row, said: str) -> None:
    world = World()
    world.lists(made)

    assert said in lines(world)[11]


def test_a_session_that_could_not_be_looked_at_says_so_in_its_row() -> None:
    world = World()
    world.lists(row("a", look=Look(error="no answer")))

    assert lines(world)[2].endswith("no answer")


def test_no_sessions_are_told_of_in_words() -> None:
    world = World()
    assert "looking for sessions…" in text(world)

    world.tell(HostLost("", "no keeper"))
    world.tell(HostLost("far", "no answer"))
    assert "no sessions; n starts one" in text(world)
    assert "keeper: no keeper" in text(world)
    assert "the keeper cannot be reached, far cannot be reached" in lines(world)[0]

    world.tell(Resized(20, 3))
    assert "no keeper" not in text(world)

    world = World("a")
    world.press("/", "z", "Enter")
    assert "no session matches" in text(world)
    assert "0 with “z”" in text(world)


# ── the last row ──────────────────────────────────────────────────────────────


def test_questions_entries_and_notices_take_the_last_row() -> None:
    world = World("a")
    world.press("x")
    assert lines(world)[-1] == "end a and everything that runs in it? y/N"
    world.press("n")
    world.press("r", *"abc")
    assert lines(world)[-1] == "rename a to: abc"
    world.press(*("x" * 100), "z")
    assert lines(world)[-1].endswith("xz")
    world.press("Home")
    assert lines(world)[-1].startswith("rename a to: abcxx")
    world.press("End")
    world.press("Escape")
    world.tell(Told("done"))
    assert lines(world)[-1] == "done"
    world.tell(Told("refused", is_bad=True))
    assert lines(world)[-1] == "refused"


def test_a_question_is_asked_on_a_terminal_of_one_row_too() -> None:
    world = World("a", lines=1)
    world.press("x")

    assert lines(world) == ["end a and everything that runs in it? y/N"]


def test_hints_are_left_out_where_there_is_hardly_a_row() -> None:
    world = World("a", lines=2)

    assert "Enter attach" not in text(world)
    assert "Enter attach" in text(World("a", lines=3))


def test_hints_and_rows_can_be_pointed_at() -> None:
    world = World("a", "b")
    found = drawn(world)
    at = lines(world)[-1].index("w wall")

    assert found.at(at, 23) == Target(Rect(at, 23, 6, 1), key="w")
    target = found.at(5, 3)
    assert target is not None
    assert target.session == ("", "s_b")
    assert found.at(5, 20) is None


def test_every_page_has_its_hints() -> None:
    world = World("a")
    world.look("a", ASKS)
    world.press("w")
    assert lines(world)[-1].startswith("w list")
    world.press("?")
    assert lines(world)[-1] == "any key goes back"
    world.press("x", "a")
    assert lines(world)[-1].startswith("y approve  n deny")


# ── the other pages ───────────────────────────────────────────────────────────


def test_the_wall_has_a_tile_for_each_session() -> None:
    world = World("a", "b", "c")
    for name in "abc":
        world.look(name, Look(state="running", picture=picture(f"I am {name}")))
    world.press("w")
    found = drawn(world)

    for name in "abc":
        assert f" {name}  running " in text(world)
        assert f"I am {name}" in text(world)
    assert {one.session for one in found.targets if one.session} == {
        ("", f"s_{name}") for name in "abc"
    }


def test_a_wall_without_sessions_or_room_says_what_it_can() -> None:
    world = World()
    world.press("w")
    assert "looking for sessions" in text(world)

    world = World("a", lines=4)
    world.look("a", Look(picture=picture("I am a")))
    world.press("w")
    assert "I am a" not in text(world)
    assert " a  running " in text(world)


def test_under_review_everything_is_shown() -> None:
    world = World("a")
    world.look("a", ASKS)
    world.press("a")

    found = lines(world)

    assert found[0] == " a waits for approval"
    assert found[1:3] == [" who robo", " what rm -rf /"]


def test_a_review_says_which_of_several_it_is_and_when_it_waits_no_longer() -> None:
    world = World("a")
    second = WAITS._replace(ticket=8)
    world.look("a", Look(pending=(WAITS, second), pending_count=2))
    world.press("a", "Tab")
    assert lines(world)[0] == " a waits for approval, 2 of 2"

    world.look("a", Look())
    assert lines(world)[0] == " a: no longer pending"


def test_help_tells_every_key() -> None:
    world = World("a", lines=30)
    world.press("?")

    for key in ("Enter", "Tab", "Space", "Ctrl-Z"):
        assert f" {key} " in text(world)


def test_help_is_cut_where_the_terminal_ends() -> None:
    world = World("a", columns=20, lines=5)
    world.press("?")

    assert len(lines(world)) == 5


# ── pictures ──────────────────────────────────────────────────────────────────


def test_a_picture_shows_its_last_rows_that_are_not_blank() -> None:
    canvas = Canvas(10, 2)
    draw_picture(canvas, Rect(0, 0, 10, 2), picture("one", "two", "three", "", ""))

    assert [canvas.text(0).strip(), canvas.text(1).strip()] == ["two", "three"]


def test_a_picture_shows_its_cursor() -> None:
    canvas = Canvas(10, 2)
    draw_picture(canvas, Rect(0, 0, 10, 2), picture("one", "", "", cursor=2))

    assert canvas.text(0).strip() == ""


def test_a_picture_is_cut_to_its_place() -> None:
    canvas = Canvas(10, 1)
    spans: tuple[Span, ...] = (("abc", Style()), ("def", Style(2)), ("ghi", Style()))
    draw_picture(canvas, Rect(2, 0, 4, 1), Preview(80, (spans,)))

    assert canvas.text(0) == "  abcd    "


def test_what_is_invisible_there_is_invisible_here() -> None:
    canvas = Canvas(4, 1)
    spans: tuple[Span, ...] = (("ab", Style(look=Looks.INVISIBLE)), ("c", Style()))
    draw_picture(canvas, Rect(0, 0, 4, 1), Preview(80, (spans,)))

    assert canvas.text(0) == "  c "


# ── whatever is shown ─────────────────────────────────────────────────────────

HOSTILE = st.text(
    st.sampled_from("a\x1b[2J\x07\u202e\u4e2d\u0301\u2028\x9b\udcff"), max_size=20
)


@given(
    st.integers(0, 130),
    st.integers(0, 40),
    HOSTILE,
    st.sampled_from(["", "w", "a", "?", "x", "r", "/", "n"]),
)
def test_no_text_of_others_reaches_the_terminal_as_it_is(
    columns: int, rows: int, bad: str, key: str
) -> None:
    world = World(columns=columns, lines=rows)
    made = row_from({"id": bad or "s", "name": bad, "command": [bad], "state": bad})
    assert made is not None
    waits = WAITS._replace(lines=(bad,))
    look = Look(turn=bad, here=(bad,), attached=1, pending=(waits,), pending_count=1)
    world.lists(made._replace(look=look._replace(picture=picture(bad, bad))))
    world.tell(HostLost("far", bad))
    world.press(*([key] if key else []))

    written = difference(None, drawn(world).canvas).decode()

    for character in "\x07\u202e\u2028\x9b":
        assert character not in written
    assert "\x1b[2J" not in written[20:]
