from hypothesis import given
from hypothesis import strategies as st
from tests.core.commands_world import (
    ANNA,
    HER,
    HIM,
    LS,
    UNKNOWN,
    at,
    bare,
    entered,
    events,
    placed,
    plain,
    prompted,
    told,
)

from holdfast.core.provenance.commands import (
    MAX_CLIENTS,
    MAX_KEPT,
    NEVER,
    Begin,
    Command,
    Commands,
    Entered,
    Event,
    Finish,
    Marked,
    Phase,
)
from holdfast.core.provenance.entered_lines import Instant
from holdfast.core.provenance.staged import StagedLine
from holdfast.model.ids import (
    ClientId,
)
from holdfast.term.marks import Began, Ended, Prompted


def test_a_command_has_a_number_a_stretch_a_status_a_duration_and_a_folder() -> None:
    machine = prompted()

    effects = told(
        machine,
        entered(b"ls\r", ANNA, 10),
        Marked(LS, 14),
        Marked(Ended(3, "/src"), 40),
    )
    done = Command(1, ANNA, "ls", 14, 40, 3, 1000, "/src")
    assert plain(effects) == [(Begin, Command(1, ANNA, "ls", 14)), (Finish, done)]
    assert bare(machine.sent_by(ANNA)) == bare(machine.last) == done


def test_the_phase_follows_the_marks() -> None:
    machine = Commands()
    phases = [machine.phase]
    for event in (
        Marked(Prompted(), 0),
        entered(b"l", None, 0),
        entered(b"s\r", None, 0),
        Marked(LS, 0),
        Marked(Ended(0, "/"), 0),
        Marked(Prompted(), 0),
    ):
        told(machine, event)
        phases.append(machine.phase)

    assert phases == [
        Phase.UNMARKED,
        Phase.PROMPT,
        Phase.PROMPT,
        Phase.BETWEEN,
        Phase.RUNNING,
        Phase.BETWEEN,
        Phase.PROMPT,
    ]


def test_an_end_without_a_beginning_changes_nothing() -> None:
    machine = prompted()

    assert told(machine, Marked(Ended(130, "/"), 5), Marked(Prompted(), 5)) == []
    assert machine.last is None


def test_a_lost_end_is_made_up_for_by_the_next_mark() -> None:
    for mark in (LS, Prompted()):
        machine = prompted()
        told(machine, Marked(LS, 10))

        effects = told(machine, Marked(mark, 30))
        done = Command(1, None, "ls", 10, 30, None, 0, "")
        assert plain(effects)[0] == (Finish, done)


def test_what_never_began_ends_with_the_status_of_the_prompt() -> None:
    machine = prompted()

    effects = told(machine, entered(b")\r", ANNA, 7), Marked(Ended(2, "/"), 30))
    done = Command(1, ANNA, ")", 7, 30, 2, 1000, "/")
    assert plain(effects)[-1] == (Finish, done)


def test_what_was_typed_ahead_is_nobodys_command() -> None:
    machine = prompted()

    effects = told(
        machine,
        entered(b"make\r", ANNA, 0),
        Marked(LS, 10),
        Marked(Ended(0, "/"), 20),
    )
    assert plain(effects)[0] == (Begin, Command(1, None, "ls", 10))
    assert machine.sent_by(ANNA) is None
    assert machine.knows(ANNA)


def test_a_line_that_the_shell_does_not_tell_is_the_one_that_was_sent() -> None:
    machine = prompted()

    effects = told(machine, entered(b"ls\r", ANNA, 0), Marked(UNKNOWN, 5))
    assert plain(effects) == [(Begin, Command(1, ANNA, "ls", 5))]


def test_history_expansion_does_not_hide_whose_command_it_is() -> None:
    machine = prompted()

    told(machine, entered(b"!l\r", ANNA, 0), Marked(LS, 5))
    assert bare(machine.sent_by(ANNA)) == Command(1, ANNA, "ls", 5)


def test_what_is_sent_while_something_runs_belongs_to_nothing() -> None:
    machine = prompted()

    told(machine, Marked(LS, 5), entered(b"ls\r", ANNA, 6), Marked(Ended(0, "/"), 9))
    assert machine.knows(ANNA)
    assert machine.sent_by(ANNA) is None


def test_i3_a_client_counts_for_its_first_command_only() -> None:
    machine = prompted()
    told(machine, entered(b"ls\r", ANNA, 0), Marked(LS, 5), Marked(Prompted(), 9))

    told(machine, entered(b"ls\r", ANNA, 9), Marked(LS, 12), Marked(Prompted(), 20))
    done = Command(1, ANNA, "ls", 5, 9, None, 1000, "")
    assert bare(machine.sent_by(ANNA)) == done


def test_i4_what_is_remembered_is_bounded() -> None:
    machine = prompted()
    for number in range(MAX_CLIENTS + 1):
        client = ClientId(f"c_{number:016}")
        told(machine, entered(b"ls\r", client, 0), Marked(LS, 0))
        told(machine, Marked(Ended(0, ""), 0), Marked(Prompted(), 0))

    assert not machine.knows(ClientId(f"c_{0:016}"))
    assert machine.knows(ClientId(f"c_{1:016}"))
    kept = [
        n for n in range(MAX_CLIENTS + 1) if machine.sent_by(ClientId(f"c_{n:016}"))
    ]
    assert len(kept) == MAX_KEPT


@given(st.lists(events, max_size=30))
def test_i1_i2_any_marks_give_numbered_commands_that_do_not_overlap(
    happened: list[Event],
) -> None:
    machine = Commands()
    effects = told(machine, *(placed(one, 10 * n) for n, one in enumerate(happened)))

    begun = [effect.command for effect in effects if isinstance(effect, Begin)]
    done = [effect.command for effect in effects if isinstance(effect, Finish)]
    assert [one.number for one in begun] == list(range(1, len(begun) + 1))
    assert len(begun) - len(done) == (machine.phase is Phase.RUNNING)
    seen = 0
    for one in done:
        assert one.end is not None
        assert seen <= one.start <= one.end
        seen = one.end


@given(st.lists(events, max_size=30))
def test_i6_whoever_types_while_a_command_runs_has_a_hand_in_it(
    happened: list[Event],
) -> None:
    machine = Commands()
    for number, event in enumerate(happened):
        machine.handle(placed(event, 10 * number), at(number))
        last = machine.last
        if machine.phase is Phase.RUNNING and isinstance(event, Entered):
            assert last is not None
            assert event.actor in {last.trigger, *last.hands}


def test_i6_what_others_type_into_a_command_is_told_with_its_end() -> None:
    machine = prompted()
    told(machine, entered(b"bash\r", None, 0), Marked(Began("bash", 4), 1))
    machine.handle(entered(b"y", None, 1, HER), at(2))
    machine.handle(entered(b"rm x\r", None, 1, HIM), at(3))

    machine.handle(Marked(Ended(0, "/"), 9), at(9))
    last = machine.last
    assert last is not None
    assert (last.trigger, last.hands, last.shared_ms) == (HER, (HIM,), 3000)


def test_a_command_has_who_pressed_return_and_who_typed_its_line() -> None:
    machine, line = prompted(), StagedLine()
    line.typed(HIM, b"rm -rf ", echo_off=False)
    lines = tuple(line.typed(HER, b"/\r", echo_off=False))

    machine.handle(Entered(b"/\r", None, 3, HER, lines), at(5))
    machine.handle(Marked(Began("rm -rf /", 8), 9), at(6))
    machine.handle(Marked(Ended(0, "/"), 9), at(7))
    last = machine.last
    assert last is not None
    assert (last.trigger, last.authors) == (HER, (HIM, HER))
    assert (last.since, last.until) == (
        Instant(1_000_005_000, 5000),
        Instant(1_000_007_000, 7000),
    )


def test_what_nobody_was_seen_to_enter_is_nobodys_and_may_be_as_old_as_the_last() -> (
    None
):
    machine = prompted()
    machine.handle(Marked(LS, 1), at(1))
    machine.handle(Marked(LS, 2), at(4))

    assert [(one.trigger, one.since) for one in machine.kept] == [(None, NEVER)] * 2
