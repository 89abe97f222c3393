"""What a successor knows by the book, compared with who wrote it."""

from hypothesis import given
from hypothesis import strategies as st
from tests.core.commands_world import entry
from tests.core.shell_world import (
    ANNA,
    BOT,
    DEPLOY,
    HOME,
    PATH,
    Shell,
    command,
    moment,
    state,
)

from holdfast.core.book.logbook import EntryKind
from holdfast.core.provenance.originators import MAX_INITIAL, UNKNOWN, Origin, Origins
from holdfast.core.shell.shell_state import MAX_CHANGES, ShellState

ITEMS = (PATH, HOME, DEPLOY)

step = st.one_of(
    st.tuples(st.just("run"), st.sampled_from([ANNA, BOT])),
    st.tuples(st.just("see"), st.sampled_from(["1", "2"])),
    st.just(("same", "")),
    st.just(("lost", "")),
)


def lived(steps: list[tuple[str, str]]) -> Shell:
    shell = Shell()
    for what, which in steps:
        match what:
            case "run":
                shell.run(ANNA if which == ANNA else BOT)
            case "see":
                shell.see(state(PATH=which, HOME="/"))
            case "same":
                shell.see(None)
            case _:
                shell.lose()
    return shell


def is_no_surer(heir: Origin | None, one: Origin | None) -> bool:
    """Tell whether an heir claims nothing but what the other did."""
    if heir == one:
        return True
    if heir is None or heir.is_sure:
        return False
    return not heir.trigger or one is None or heir.trigger in (one.trigger, *one.actors)


@given(st.lists(step, max_size=12))
def test_i5_an_heir_answers_the_same_or_knows_less(
    steps: list[tuple[str, str]],
) -> None:
    shell = lived(steps)
    heir = shell.heir()

    for item in ITEMS:
        assert is_no_surer(heir.of(item), shell.origins.of(item)), item
    assert heir.last == shell.origins.last
    for second in range(0, 90, 3):
        at = moment(second)
        assert heir.at(at.wall_ms) == shell.origins.at(at.wall_ms)
        assert heir.at_up(at.up_ms) == shell.origins.at_up(at.up_ms)


@given(st.lists(step, max_size=12))
def test_i5_an_heir_that_sees_a_state_is_as_sure_of_it(
    steps: list[tuple[str, str]],
) -> None:
    shell = lived([("see", "1"), *steps, ("see", "2")])
    heir = shell.heir()

    assert [heir.of(item) for item in ITEMS] == [
        shell.origins.of(item) for item in ITEMS
    ]


def test_i5_a_prompt_at_which_nothing_was_new_is_in_the_book() -> None:
    shell = lived([("see", "1"), ("run", BOT), ("same", "")])

    assert shell.heir().of(PATH) is None
    assert not shell.heir().is_behind


def test_i5_after_a_prompt_that_is_not_in_the_book_everything_is_unsure() -> None:
    shell = lived([("see", "1"), ("run", BOT)])

    origin = shell.heir().of(PATH)
    assert origin is not None
    assert (origin.trigger, origin.is_sure) == (BOT, False)


def test_i5_the_prompt_of_what_still_runs_is_yet_to_come() -> None:
    shell = lived([("see", "1")])
    shell.begin(command(1, BOT))
    heir = shell.heir()

    assert heir.of(PATH) is None
    heir.seen(state(PATH="2", HOME="/"))
    origin = heir.of(PATH)
    assert origin is not None
    assert (origin.trigger, origin.is_sure) == (BOT, True)


def test_i5_what_was_left_out_of_the_book_is_nobodys_for_sure() -> None:
    shell = Shell()
    shell.see(state(PATH="1"))
    shell.run(BOT)
    many = {f"a{number}": "1" for number in range(MAX_CHANGES + 50)}
    shell.see(state(PATH="1", **many))
    heir = shell.heir()
    heir.began(command(2, ANNA))
    heir.seen(state(PATH="1", deploy="x", **many))

    origin = heir.of(DEPLOY)
    assert origin is not None
    assert (origin.trigger, origin.authors, origin.first) == ("", (BOT, ANNA), 1)


def test_i5_a_shell_with_more_than_the_book_takes_has_unknown_origins() -> None:
    shell = Shell()
    room = MAX_INITIAL * 24 * 1024
    many = {f"{number:0200}": "1" for number in range(room // 200)}
    shell.see(state(**many))

    assert shell.heir().of(PATH) == UNKNOWN


def test_i5_what_was_removed_is_gone_for_an_heir_too() -> None:
    shell = lived([("see", "1"), ("run", BOT)])
    shell.see(state(PATH="1"))
    heir = shell.heir()

    assert heir.digest(HOME) == b""
    origin = heir.of(HOME)
    assert origin is not None
    assert (origin.trigger, origin.is_sure) == (BOT, True)


def test_an_empty_book_knows_nothing() -> None:
    heir = Origins()
    heir.take_up([])

    assert heir.of(PATH) == UNKNOWN


def test_an_end_without_a_beginning_is_passed_over() -> None:
    shell = Shell()
    shell.run(BOT)
    shell.book = [one for one in shell.book if one.kind is EntryKind.FINISHED]

    assert shell.heir().last == 0


def test_a_shell_that_began_with_nothing_is_known_to_an_heir() -> None:
    shell = Shell()
    shell.see(ShellState({}, None, {}, {}, is_whole=True))

    assert shell.heir().of(PATH) is None


def test_what_was_written_down_is_what_is_compared_with() -> None:
    shell = Shell()
    shell.see(state(PATH="1", HOME="/"))
    shell.run(BOT)
    heir = Origins()
    heir.take_up(shell.book)
    loaded = Origins.load(heir.dump())

    for one in (shell.origins, heir, loaded):
        one.seen(state(PATH="2", HOME="/"))

    told = [one.of(PATH) for one in (shell.origins, heir, loaded)]
    assert told[0] is not None
    assert told[0].trigger == BOT
    assert told[1:] == [told[0], told[0]]


def test_where_nothing_was_known_nothing_is_compared_with() -> None:
    loaded = Origins.load(Origins().dump())

    assert loaded.seen(state(PATH="1")) == Origins().seen(state(PATH="1"))


def test_the_shell_of_the_next_life_has_nothing_of_the_last() -> None:
    shell = Shell()
    shell.see(state(PATH="1"))
    shell.run(ANNA)
    shell.see(state(PATH="2"))
    heir = Origins()

    heir.take_up([*shell.book, entry(EntryKind.RECOVERED, {"by": "", "offset": 9})])

    assert heir.last == 0
    assert heir.traced(PATH) is None
    assert heir.dump() == Origins().dump()
