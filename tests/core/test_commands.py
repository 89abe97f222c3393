import base64
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.commands import (
    MAX_CLIENTS,
    MAX_KEPT,
    Begin,
    Command,
    Commands,
    Effect,
    Entered,
    Event,
    Finish,
    Marked,
    Phase,
    Resumed,
    began_fields,
    finished_fields,
)
from holdfast.core.logbook import Entry, EntryKind
from holdfast.model.ids import ClientId, Epoch, Incarnation, Index
from holdfast.model.moments import Moment
from holdfast.term.marks import Began, Ended, Prompted
from holdfast.wire.lines import Value

ANNA, BERT = ClientId("c_" + "a" * 16), ClientId("c_" + "b" * 16)
LS = Began("ls", 2)
UNKNOWN = Began("", 0)


def at(seconds: float) -> Moment:
    return Moment(seconds, 1_000_000 + seconds)


def told(machine: Commands, *events: Event) -> list[Effect]:
    effects: list[Effect] = []
    for now, event in enumerate(events):
        effects += machine.handle(event, at(now))
    return effects


def prompted() -> Commands:
    machine = Commands()
    told(machine, Marked(Ended(0, "/"), 0), Marked(Prompted(), 0))
    return machine


def entry(kind: EntryKind, fields: dict[str, Value], seconds: float = 0) -> Entry:
    wall = round((1_000_000 + seconds) * 1000)
    return Entry(
        Index(0), b"", b"", kind, Incarnation(1), Epoch(1), wall, fields=fields
    )


def typed(client: ClientId, line: bytes, kind: str = "command") -> Entry:
    data = base64.b64encode(line).decode()
    return entry(EntryKind.INPUT, {"input": kind, "client": client, "data": data})


def recorded(effects: list[Effect]) -> Iterator[Entry]:
    for effect in effects:
        match effect:
            case Begin(command):
                yield entry(EntryKind.BEGAN, began_fields(command))
            case Finish(command):
                yield entry(EntryKind.FINISHED, finished_fields(command))


def test_a_command_has_a_number_a_stretch_a_status_a_duration_and_a_folder() -> None:
    machine = prompted()

    effects = told(
        machine,
        Entered(b"ls\r", ANNA, 10),
        Marked(LS, 14),
        Marked(Ended(3, "/src"), 40),
    )
    done = Command(1, ANNA, "ls", 14, 40, 3, 1000, "/src")
    assert effects == [Begin(Command(1, ANNA, "ls", 14)), Finish(done)]
    assert machine.sent_by(ANNA) == machine.last == done


def test_the_phase_follows_the_marks() -> None:
    machine = Commands()
    phases = [machine.phase]
    for event in (
        Marked(Prompted(), 0),
        Entered(b"l", None, 0),
        Entered(b"s\r", None, 0),
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
        assert effects[0] == Finish(Command(1, None, "ls", 10, 30, None, 0, ""))


def test_what_never_began_ends_with_the_status_of_the_prompt() -> None:
    machine = prompted()

    effects = told(machine, Entered(b")\r", ANNA, 7), Marked(Ended(2, "/"), 30))
    assert effects[-1] == Finish(Command(1, ANNA, ")", 7, 30, 2, 1000, "/"))


def test_what_was_typed_ahead_is_nobodys_command() -> None:
    machine = prompted()

    effects = told(
        machine,
        Entered(b"make\r", ANNA, 0),
        Marked(LS, 10),
        Marked(Ended(0, "/"), 20),
    )
    assert effects[0] == Begin(Command(1, None, "ls", 10))
    assert machine.sent_by(ANNA) is None
    assert machine.knows(ANNA)


def test_a_line_that_the_shell_does_not_tell_is_the_one_that_was_sent() -> None:
    machine = prompted()

    assert told(machine, Entered(b"ls\r", ANNA, 0), Marked(UNKNOWN, 5)) == [
        Begin(Command(1, ANNA, "ls", 5))
    ]


def test_history_expansion_does_not_hide_whose_command_it_is() -> None:
    machine = prompted()

    told(machine, Entered(b"!l\r", ANNA, 0), Marked(LS, 5))
    assert machine.sent_by(ANNA) == Command(1, ANNA, "ls", 5)


def test_what_is_sent_while_something_runs_belongs_to_nothing() -> None:
    machine = prompted()

    told(machine, Marked(LS, 5), Entered(b"ls\r", ANNA, 6), Marked(Ended(0, "/"), 9))
    assert machine.knows(ANNA)
    assert machine.sent_by(ANNA) is None


def test_i3_a_client_counts_for_its_first_command_only() -> None:
    machine = prompted()
    told(machine, Entered(b"ls\r", ANNA, 0), Marked(LS, 5), Marked(Prompted(), 9))

    told(machine, Entered(b"ls\r", ANNA, 9), Marked(LS, 12), Marked(Prompted(), 20))
    assert machine.sent_by(ANNA) == Command(1, ANNA, "ls", 5, 9, None, 1000, "")


def test_i4_what_is_remembered_is_bounded() -> None:
    machine = prompted()
    for number in range(MAX_CLIENTS + 1):
        client = ClientId(f"c_{number:016}")
        told(machine, Entered(b"ls\r", client, 0), Marked(LS, 0))
        told(machine, Marked(Ended(0, ""), 0), Marked(Prompted(), 0))

    assert not machine.knows(ClientId(f"c_{0:016}"))
    assert machine.knows(ClientId(f"c_{1:016}"))
    kept = [
        n for n in range(MAX_CLIENTS + 1) if machine.sent_by(ClientId(f"c_{n:016}"))
    ]
    assert len(kept) == MAX_KEPT


events = st.one_of(
    st.builds(
        Entered,
        st.sampled_from((b"ls\r", b"x", b"\x03", b"make\r")),
        st.sampled_from((None, ANNA, BERT)),
        st.just(0),
    ),
    st.builds(
        Marked,
        st.sampled_from((LS, UNKNOWN, Began("make", 4), Prompted(), Ended(1, "/x"))),
        st.just(0),
    ),
    st.builds(Resumed, st.booleans(), st.just(0)),
)


def placed(event: Event, offset: int) -> Event:
    match event:
        case Entered(data, client):
            return Entered(data, client, offset)
        case Marked(mark):
            return Marked(mark, offset)
        case Resumed(at_prompt):
            return Resumed(at_prompt, offset)


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
def test_i5_what_is_rebuilt_is_what_was_recorded(happened: list[Event]) -> None:
    machine, heir = Commands(), Commands()
    effects = told(machine, *(placed(one, 10 * n) for n, one in enumerate(happened)))
    heir.take_up(recorded(effects))

    assert heir.last == machine.last
    assert [heir.sent_by(one) for one in (ANNA, BERT)] == [
        machine.sent_by(one) for one in (ANNA, BERT)
    ]


def test_a_successor_takes_the_kernels_word_that_a_lost_command_is_over() -> None:
    heir = Commands()
    heir.take_up([entry(EntryKind.BEGAN, began_fields(Command(1, None, "ls", 5)))])

    assert heir.handle(Resumed(at_prompt=True, offset=9), at(2)) == [
        Finish(Command(1, None, "ls", 5, 9, None, 2000, ""))
    ]
    assert heir.phase is Phase.PROMPT


def test_a_successor_leaves_running_what_runs() -> None:
    heir = Commands()
    heir.take_up([entry(EntryKind.BEGAN, began_fields(Command(1, None, "ls", 5)))])

    assert heir.handle(Resumed(at_prompt=False, offset=9), at(2)) == []
    assert heir.phase is Phase.RUNNING


def test_a_successor_waits_for_what_was_typed_and_has_not_begun() -> None:
    heir = Commands()
    done = finished_fields(Command(1, None, "x", 1, 4, 0, 1, "/"))
    heir.take_up(
        [
            entry(EntryKind.FINISHED, done),
            typed(BERT, b"keys\r", kind="keys"),
            entry(EntryKind.OPENED, {}),
            typed(ANNA, b"ls\r"),
            entry(EntryKind.SETTLED, {"as": "applied", "of": 1}),
        ]
    )
    heir.handle(Resumed(at_prompt=True, offset=9), at(0))

    assert heir.knows(ANNA)
    assert not heir.knows(BERT)
    assert heir.phase is Phase.BETWEEN
    assert told(heir, Marked(LS, 12)) == [Begin(Command(1, ANNA, "ls", 12))]


def test_i3_a_successor_too_counts_a_clients_first_command_only() -> None:
    machine, heir = prompted(), Commands()
    effects = told(machine, Entered(b"ls\r", ANNA, 0), Marked(LS, 5))
    effects += told(machine, Marked(Prompted(), 9), Entered(b"ls\r", ANNA, 9))
    effects += told(machine, Marked(LS, 12))
    heir.take_up(recorded(effects))

    assert heir.sent_by(ANNA) == machine.sent_by(ANNA)


def test_a_successor_does_not_wait_for_what_has_begun() -> None:
    heir = Commands()
    begun = Command(1, ANNA, "ls", 5)
    heir.take_up([typed(ANNA, b"ls\r"), entry(EntryKind.BEGAN, began_fields(begun))])

    assert heir.sent_by(ANNA) == begun
    assert heir.handle(Resumed(at_prompt=True, offset=9), at(0)) != []


def test_a_successor_does_not_wait_for_what_was_cut() -> None:
    heir = Commands()
    heir.take_up(
        [typed(ANNA, b"ls\r"), entry(EntryKind.SETTLED, {"as": "cut", "of": 1})]
    )

    heir.handle(Resumed(at_prompt=True, offset=9), at(0))
    assert heir.phase is Phase.PROMPT
