from hypothesis import given
from hypothesis import strategies as st
from tests.core.commands_world import (
    ANNA,
    BERT,
    HER,
    HIM,
    LS,
    at,
    bare,
    entered,
    entry,
    events,
    lived,
    plain,
    prompted,
    recorded,
    told,
    typed,
)

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.provenance.commands import (
    Begin,
    Command,
    Commands,
    Event,
    Finish,
    Kept,
    Marked,
    Phase,
    Resumed,
    began_fields,
    finished_fields,
)
from holdfast.term.marks import Began, Ended, Prompted
from holdfast.wire.lines import Value  # read by people too


@given(st.lists(events, max_size=30))
def test_i5_what_is_rebuilt_is_what_was_recorded(happened: list[Event]) -> None:
    machine, book = lived(happened)
    heir = Commands()
    heir.take_up(book)

    done = [one for one in machine.kept if one.end is not None]
    assert [one for one in heir.kept if one.end is not None] == done
    assert bare(heir.last) == bare(machine.last)
    assert [bare(heir.sent_by(one)) for one in (ANNA, BERT)] == [
        bare(machine.sent_by(one)) for one in (ANNA, BERT)
    ]


@given(st.lists(events, max_size=30))
def test_i5_who_is_behind_what_runs_is_rebuilt_too(happened: list[Event]) -> None:
    machine, book = lived(happened)
    heir = Commands()
    heir.take_up(book)

    if machine.phase is Phase.RUNNING:
        one, other = machine.last, heir.last
        assert one is not None
        assert other is not None
        assert (one.trigger, one.authors) == (other.trigger, other.authors)
        assert one.since == other.since
        # Prompts are not in the book, so whoever typed ahead may be among them.
        assert set(one.hands) <= set(other.hands)


def test_a_successor_does_not_know_a_line_that_was_typed_unseen() -> None:
    heir = Commands()
    hidden: dict[str, Value] = {"input": "keys", "client": ANNA, "actor": HER}
    heir.take_up([entry(EntryKind.INPUT, {**hidden, "size": 4, "secret": "00"})])

    heir.handle(Marked(LS, 1), at(1))
    last = heir.last
    assert last is not None
    assert last.trigger is None


def test_a_successor_looks_at_recent_bytes_only() -> None:
    heir = Commands()
    heir.take_up([typed(ANNA, b"ls\r", "keys")] + [entry(EntryKind.OPENED, {})] * 4096)

    heir.handle(Marked(LS, 1), at(1))
    last = heir.last
    assert last is not None
    assert last.trigger is None


def test_a_successor_takes_the_kernels_word_that_a_lost_command_is_over() -> None:
    heir = Commands()
    heir.take_up([entry(EntryKind.BEGAN, began_fields(Command(1, None, "ls", 5)))])

    assert plain(heir.handle(Resumed(at_prompt=True, offset=9), at(2))) == [
        (Finish, Command(1, None, "ls", 5, 9, None, 2000, ""))
    ]
    assert heir.phase is Phase.PROMPT


def test_a_successor_counts_a_beginning_it_never_saw_by_the_book() -> None:
    heir = Commands()
    heir.take_up([typed(ANNA, b"ls\r")])

    _, finish = heir.handle(Marked(Prompted(), 9), at(5000)._replace(wall=1_000_003))
    assert finish.command.client == ANNA
    assert finish.command.duration_ms == 3000


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
    effects = told(heir, Marked(LS, 12))
    assert plain(effects) == [(Begin, Command(1, ANNA, "ls", 12))]


def test_i3_a_successor_too_counts_a_clients_first_command_only() -> None:
    machine, heir = prompted(), Commands()
    effects = told(machine, entered(b"ls\r", ANNA, 0), Marked(LS, 5))
    effects += told(machine, Marked(Prompted(), 9), entered(b"ls\r", ANNA, 9))
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


def test_what_was_typed_before_a_command_began_was_not_typed_into_it() -> None:
    command = Command(1, None, "ls", 5, trigger=HER)
    before = typed(ANNA, b"x", "keys", actor=HIM)
    began = entry(EntryKind.BEGAN, began_fields(command))
    heirs = []
    for entries in ([before, began], [before]):
        heir = Commands()
        heir.load(Kept((command,), ()))
        heir.take_up(entries, known=0)
        heirs.append(heir)

    assert [one.last.hands for one in heirs if one.last] == [(), (HIM,)]
    assert [one.phase for one in heirs] == [Phase.RUNNING, Phase.RUNNING]


def test_what_was_typed_in_so_many_words_and_has_not_begun_still_may() -> None:
    machine, heir = prompted(), Commands()
    told(
        machine,
        entered(b"make\r", None, 0, HIM),
        Marked(LS, 0),
        Marked(Prompted(), 0),
    )
    begun = Command(1, None, "ls", 0)
    book = [typed(ANNA, b"make\r", "keys", actor=HIM)]
    heir.take_up([*book, entry(EntryKind.BEGAN, began_fields(begun))])
    heir.handle(Marked(Prompted(), 0), at(1))

    for one in (machine, heir):
        one.handle(Marked(Began("make", 4), 0), at(2))

    assert [one.last.trigger for one in (machine, heir) if one.last] == [HIM, HIM]


def next_life(**fields: Value) -> Entry:
    return entry(EntryKind.RECOVERED, fields)


def test_only_the_number_of_the_last_command_lives_on_in_the_next_life() -> None:
    first = Command(1, ANNA, "ls", 5, end=9, status=0)
    last = Command(2, BERT, "make", 9)
    heir = Commands()
    heir.take_up(
        [
            entry(EntryKind.BEGAN, began_fields(first)),
            entry(EntryKind.FINISHED, finished_fields(first)),
            entry(EntryKind.BEGAN, began_fields(last)),
            typed(ANNA, b"echo\r", "keys"),
            next_life(by="a_x", offset=700),
        ]
    )

    assert heir.phase is Phase.UNMARKED
    [known] = heir.kept
    assert (known.number, known.start, known.end) == (2, 700, 700)
    assert heir.sent_by(ANNA) is None
    assert heir.knows(ANNA)  # What was typed once is not typed again.
    heir.handle(Marked(Prompted(1), 710), at(1))
    [begun] = heir.handle(Marked(Began("ls", 2), 720), at(2))
    assert isinstance(begun, Begin)
    assert begun.command.number == 3


def test_what_ran_when_a_session_was_moved_still_runs() -> None:
    last = Command(2, BERT, "make", 9)
    for known in (-1, 99):
        heir = Commands()
        if known > 0:
            heir.load(Kept((last,), ()))
        heir.take_up(
            [
                entry(EntryKind.BEGAN, began_fields(last)),
                next_life(by="a_x", offset=700, image=3, origin="h_x"),
            ],
            known,
        )

        assert heir.phase is Phase.RUNNING
        [finished] = heir.handle(Marked(Ended(0, "/"), 750), at(9))
        assert isinstance(finished, Finish)
        assert (finished.command.number, finished.command.end) == (2, 750)
        assert finished.command.status == 0


def test_a_next_life_that_was_written_down_is_not_begun_again() -> None:
    kept = Command(7, None, "ls", 800, end=900, status=0)
    heir = Commands()
    heir.load(Kept((kept,), ()))

    heir.take_up([next_life()], known=0)

    assert heir.kept == (kept,)
    assert heir.phase is Phase.UNMARKED


def test_a_life_without_commands_before_it_has_none() -> None:
    heir = Commands()
    heir.take_up([next_life()])

    assert heir.kept == ()
