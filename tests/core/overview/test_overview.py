import pytest
from tests.core.overview.overview_world import ASKS, World, row

from holdfast.core.overview.acts import (
    Attach,
    Chosen,
    Create,
    Effect,
    End,
    Freeze,
    HostLost,
    Leave,
    Looked,
    LookNow,
    Recover,
    Redraw,
    Rename,
    Resized,
    Scrolled,
    Seize,
    Suspend,
    Thaw,
    Told,
)
from holdfast.core.overview.overview import HELP, LIST, NOTICE, WALL
from holdfast.core.overview.sessions import Look, Preview
from holdfast.term.key_reader import Paste

A = ("", "s_a")


# ── selecting ─────────────────────────────────────────────────────────────────


def test_what_is_most_urgent_is_selected_until_a_key_is_pressed() -> None:
    world = World("a", "b", "c")
    world.look("c", ASKS)
    assert world.selected == "c"

    world.press("Down")
    world.look("b", Look(state="waiting-for-secret"))
    assert world.selected == "a"


def test_the_selection_follows_its_session() -> None:
    world = World("a", "b", "c")
    world.press("Down")
    world.look("c", ASKS)
    world.lists(row("new", -9), row("b", 1), row("c", 2))

    assert world.selected == "b"


def test_when_the_session_is_gone_its_neighbour_is_selected() -> None:
    world = World("a", "b", "c")
    world.press("End")
    world.lists(row("a"), row("b", 1))
    assert world.selected == "b"

    world.lists()
    assert world.selected == ""
    assert world.press("Down", "Enter", "Up", "Tab", "x") == []


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (("Down",), "01"),
        (("j", "j", "k"), "01"),
        (("l", "Right", "h", "Left"), "00"),
        (("End",), "39"),
        (("G", "g"), "00"),
        (("PageDown",), "06"),
        (("C-f", "C-b"), "00"),
        (("End", "PageUp"), "33"),
        (("Up",), "00"),
    ],
)
def test_keys_select(keys: tuple[str, ...], name: str) -> None:
    world = World(*(f"{at:02}" for at in range(40)))
    world.press(*keys)

    assert world.selected == name


def test_the_selection_stays_in_sight() -> None:
    world = World(*(f"{at:02}" for at in range(40)))
    for keys, top in ((("End",), 33), (("PageUp",), 33), (("Home",), 0)):
        world.press(*keys)
        assert world.overview.top == top

    world.press("End")
    world.lists(row("00"), row("01"))
    assert world.overview.top == 0


def test_tab_goes_to_the_next_that_needs_somebody() -> None:
    world = World("a", "b", "c", "d")
    world.look("b", ASKS)
    world.look("c", Look(state="waiting-for-secret"))
    world.press("End", "Tab")
    assert world.selected == "b"
    world.press("BTab")
    assert world.selected == "c"

    calm = World("a")
    calm.press("Tab")
    assert calm.said == "no session needs attention"


def test_the_wheel_moves_the_selection() -> None:
    world = World(*"abcdefgh")
    world.tell(Scrolled(1))
    assert world.selected == "d"
    world.tell(Scrolled(-1))
    assert world.selected == "a"

    world.press("x")
    world.tell(Scrolled(1))
    assert world.selected == "a"


def test_a_click_selects_and_a_second_one_attaches() -> None:
    world = World("a", "b")

    assert world.tell(Chosen(("", "s_b"))) == []
    assert world.tell(Chosen(("", "s_b"))) == [Attach(("", "s_b"))]

    world.press("x")
    assert world.tell(Chosen(A)) == []
    assert world.selected == "b"


# ── acting ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("key", "effect"),
    [
        ("Enter", Attach(A)),
        ("o", Attach(A, observes=True)),
        (" ", LookNow(A)),
        ("f", Freeze(A)),
        ("s", Seize(A)),
        ("q", Leave()),
        ("C-c", Leave()),
        ("C-l", Redraw()),
        ("C-z", Suspend()),
    ],
)
def test_a_key_does_something_at_once(key: str, effect: Effect) -> None:
    assert World("a", "b").press(key) == [effect]


def test_an_unknown_key_does_nothing() -> None:
    assert World("a").press("Z") == []


def test_what_is_frozen_is_thawed() -> None:
    world = World("a")
    world.look("a", Look(is_frozen=True))

    assert world.press("f") == [Thaw(A)]


def test_one_that_has_ended_is_not_attached_to() -> None:
    world = World()
    world.lists(row("a", exit=0))

    assert world.press("Enter") == []
    assert world.said == "a has ended; x removes it"


def test_what_was_lost_is_started_again_after_a_yes() -> None:
    world = World()
    world.lists(row("a", gone="lost"))

    assert world.press("Enter", "n") == []
    assert world.press("Enter", "y") == [Recover(A)]
    assert world.press("f") == []
    assert world.said == "a is lost; Enter starts it again"


def test_what_is_on_disk_goes_on_after_a_yes() -> None:
    world = World()
    world.lists(row("a", gone="on disk", image=3))

    assert world.press("Enter", "y") == [Recover(A, 3)]
    assert world.press("x") == []
    assert world.said == "a is on disk; Enter restores it"


def test_what_was_lost_goes_on_from_its_newest_image_after_a_yes() -> None:
    world = World()
    world.lists(row("a", gone="lost", saved=2))

    assert world.press("i", "y") == [Recover(A, 2)]
    assert world.press("Enter", "y") == [Recover(A)]
    assert world.press("x") == []
    assert world.said.endswith("i restores its newest image")
    world.lists(row("a", gone="lost"))
    assert world.press("i", "y") == []


def test_what_cannot_be_started_again_says_why() -> None:
    world = World()
    world.lists(row("a", gone="lost", hindrance="its records cannot be read"))

    assert world.press("Enter", "y") == []
    assert world.press("Enter") == []
    assert world.said == "a is lost: its records cannot be read"


def test_a_turn_is_taken_from_somebody_only_after_a_yes() -> None:
    world = World("a")
    world.look("a", Look(turn="robo"))
    assert world.press("s", "n") == []
    assert world.press("s", "y") == [Seize(A)]

    world.look("a", Look(turn="ann", is_ours=True))
    assert world.press("s") == [Seize(A)]


def test_a_session_is_ended_only_after_a_yes_and_it_is_the_one_asked_about() -> None:
    world = World("a", "b")
    world.press("x")
    world.lists(row("b", 1))

    assert world.overview.question is not None
    assert world.overview.question.text.startswith("end a ")
    assert world.press("y") == [End(A)]
    assert world.press("x", "Enter") == []


def test_removing_one_that_has_ended_is_asked_about_as_that() -> None:
    world = World()
    world.lists(row("a", exit=0))
    world.press("x")

    assert world.overview.question is not None
    assert world.overview.question.text == "remove a from the list?"


def test_a_session_is_made_with_a_name_and_a_command() -> None:
    assert World().press("n", "w", "Enter", "Enter") == [Create("", "w", "")]
    world = World()
    world.lists(row("a", host="laptop"), host="laptop")

    assert world.press("n", "Enter", "t", "o", "p", "Enter") == [
        Create("laptop", "", "top")
    ]


def test_a_session_is_renamed() -> None:
    world = World("a")

    assert world.press("r", "z", "Enter") == [Rename(A, "z")]
    assert world.press("r", "Enter") == []
    assert world.press("r", "z", "Escape", "Enter") == [Attach(A)]


def test_what_is_pasted_is_typed_into_an_entry_and_is_no_command() -> None:
    world = World("a")

    assert world.tell(Paste("qx\ry")) == []
    assert world.overview.question is None
    world.press("r")
    world.tell(Paste("na\rme"))
    assert world.press("Enter") == [Rename(A, "name")]


# ── pages ─────────────────────────────────────────────────────────────────────


def test_words_leave_only_the_sessions_that_have_them() -> None:
    world = World("web", "build", "bill")
    world.press("/", "b", "i", "l", "l")
    assert [one.name for one in world.overview.order()] == ["bill"]

    world.press("Enter")
    assert world.overview.wanted == "bill"
    world.press("/", "BSpace", "Escape")
    assert len(world.overview.order()) == 3
    world.press("/", "x", "Enter", "Escape")
    assert len(world.overview.order()) == 3


def test_help_is_left_by_any_key_for_the_page_before() -> None:
    world = World("a")
    world.press("w", "?")
    assert world.overview.page == HELP
    assert world.press("q") == []
    assert world.overview.page == WALL
    world.press("w")
    assert world.overview.page == LIST


def test_the_wall_has_a_page_of_tiles_with_the_selected_one() -> None:
    world = World(*(f"{at:02}" for at in range(9)))
    world.press("w", "Home")
    assert len(world.overview.tiles()) == 4
    world.press("End")

    shown = [one.name for one in world.overview.watched()]

    assert world.selected in shown
    assert len(shown) == 1


def test_in_the_list_the_selected_one_is_watched() -> None:
    assert [one.name for one in World("a", "b").overview.watched()] == ["a"]
    assert World().overview.watched() == []


# ── what is known ─────────────────────────────────────────────────────────────


def test_a_host_that_is_away_keeps_its_sessions_and_is_forgiven() -> None:
    world = World("a")
    world.lists(row("far", host="laptop"), host="laptop")
    world.tell(HostLost("laptop", "no answer"))
    assert world.overview.away == {"laptop": "no answer"}
    assert len(world.overview.order()) == 2

    world.lists(host="laptop")
    assert world.overview.away == {}
    assert len(world.overview.order()) == 1


def test_a_look_stays_when_its_session_is_listed_again() -> None:
    world = World("a")
    world.look("a", Look(state="at-prompt"))
    world.lists(row("a"))

    found = world.overview.chosen()
    assert found is not None
    assert found.told_state == "at-prompt"


def test_a_look_without_a_picture_keeps_the_last_one_and_so_does_one_that_failed() -> (
    None
):
    world = World("a")
    picture = Preview(1, ())
    world.look("a", Look(state="running", picture=picture))
    world.look("a", Look(state="at-prompt"))
    world.look("a", Look(error="no answer"))

    found = world.overview.chosen()
    assert found is not None
    assert found.look == Look(state="at-prompt", picture=picture, error="no answer")


def test_a_look_at_one_that_is_gone_is_dropped() -> None:
    world = World("a")
    world.tell(Looked(("", "s_gone"), Look()))

    assert len(world.overview.known) == 1


def test_how_many_need_somebody_is_counted() -> None:
    world = World("a", "b")
    world.look("a", ASKS)
    assert world.overview.count_urgent() == 1


def test_what_was_said_goes_after_a_while_or_with_the_next_key() -> None:
    world = World("a")
    world.tell(Told("done"))
    assert world.overview.next_deadline() == world.now + NOTICE
    world.overview.tick(world.now + 1)
    assert world.said == "done"
    world.overview.tick(world.now + NOTICE)
    assert world.said == ""
    assert world.overview.next_deadline() is None

    world.press("Tab")
    assert world.overview.next_deadline() == world.now + NOTICE
    world.press("j")
    assert world.said == ""


def test_a_terminal_has_at_least_one_cell() -> None:
    world = World("a")
    world.tell(Resized(0, 0))

    assert (world.overview.columns, world.overview.lines) == (1, 1)
