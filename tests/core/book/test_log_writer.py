import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from holdfast.core.book.log_writer import MAX_BEHIND, STORE_RETRY, LogWriter, Store
from holdfast.core.book.logbook import EntryKind, Head, Logbook, genesis, verify
from holdfast.model.ids import Epoch, Incarnation, Index, SessionId
from holdfast.model.moments import Moment

SESSION = SessionId("s_one")
AT = Moment(10, 1_000.5)
ATTACHED, INPUT, SETTLED = EntryKind.ATTACHED, EntryKind.INPUT, EntryKind.SETTLED


def new_writer() -> LogWriter:
    return LogWriter(Logbook(genesis(SESSION)), Incarnation(1))


def record(writer: LogWriter, kind: EntryKind, **fields: int) -> list[Store]:
    return writer.record(kind, fields, Epoch(1), AT)


def store_all(writer: LogWriter) -> list[tuple[EntryKind, dict[str, object]]]:
    kept: list[tuple[EntryKind, dict[str, object]]] = []
    more = True
    while more:
        entry, following = writer.stored()
        kept.append((entry.kind, dict(entry.fields)))
        more = bool(following)
    return kept


def test_a_record_is_handed_out_to_be_stored() -> None:
    [store] = record(new_writer(), ATTACHED, x=1)

    assert (store.entry.index, store.entry.kind) == (0, ATTACHED)
    assert (store.entry.incarnation, store.entry.epoch) == (1, 1)
    assert store.entry.at_wall_ms == 1_000_500


def test_the_next_is_drafted_when_the_first_is_in_the_file() -> None:
    writer = new_writer()
    record(writer, ATTACHED, x=1)

    assert record(writer, ATTACHED, x=2) == []
    assert writer.next_index == 2
    entry, [store] = writer.stored()
    assert (entry.index, store.entry.index) == (0, 1)
    assert writer.stored()[1] == []


def test_the_book_ends_with_what_is_in_the_file() -> None:
    writer = new_writer()
    record(writer, ATTACHED, x=1)
    record(writer, ATTACHED, x=2)
    entry, _ = writer.stored()

    assert writer.head == Head(SESSION, entry.index, entry.hash)


def test_an_input_the_disk_refused_leaves_no_hole() -> None:
    writer = new_writer()
    record(writer, INPUT)
    writer.store_failed(now=10)

    assert not writer.is_behind
    assert writer.next_index == 0
    [store] = record(writer, ATTACHED)
    assert store.entry.index == 0


def test_i2_what_has_happened_is_kept_until_the_disk_takes_it() -> None:
    writer = new_writer()
    record(writer, ATTACHED, x=1)
    record(writer, INPUT)
    record(writer, ATTACHED, x=2)
    writer.store_failed(now=10)

    assert writer.is_behind
    assert record(writer, ATTACHED, x=3) == []
    assert writer.retry_at == 10 + STORE_RETRY
    assert writer.tick(now=10) == []
    assert len(writer.tick(now=11)) == 1
    assert not writer.is_behind
    assert [fields["x"] for _, fields in store_all(writer)] == [1, 2, 3]


def test_a_flood_of_refusals_is_not_kept_while_the_disk_refuses() -> None:
    writer = new_writer()
    for number in range(MAX_BEHIND + 5):
        record(writer, EntryKind.REFUSED, x=number)
    record(writer, ATTACHED)

    assert writer.next_index == MAX_BEHIND + 1


def test_nothing_is_tried_again_when_nothing_was_refused() -> None:
    writer = new_writer()
    record(writer, ATTACHED)

    assert writer.retry_at is None
    assert writer.tick(now=1e9) == []


def test_an_input_whose_line_is_not_out_yet_is_taken_back() -> None:
    writer = new_writer()
    record(writer, ATTACHED)
    record(writer, INPUT)

    assert writer.withdraw_input(Index(1))
    assert [kind for kind, _ in store_all(writer)] == [ATTACHED]


def test_an_input_whose_line_is_out_is_not_taken_back() -> None:
    writer = new_writer()
    record(writer, INPUT)

    assert not writer.withdraw_input(Index(0))
    assert [kind for kind, _ in store_all(writer)] == [INPUT]


def test_taking_back_an_input_leaves_the_one_whose_line_is_out() -> None:
    writer = new_writer()
    record(writer, INPUT)
    record(writer, SETTLED, of=0)
    record(writer, INPUT)

    assert writer.withdraw_input(Index(2))
    assert [kind for kind, _ in store_all(writer)] == [INPUT, SETTLED]


@pytest.mark.parametrize("between", [0, 1])
def test_what_never_got_into_the_book_is_not_settled_there(between: int) -> None:
    writer = new_writer()
    record(writer, INPUT)
    for _ in range(between):
        record(writer, ATTACHED)
    record(writer, SETTLED, of=0)
    record(writer, EntryKind.TURN)
    writer.store_failed(now=10)
    writer.tick(now=11)

    kinds = [kind for kind, _ in store_all(writer)]
    assert kinds == [ATTACHED] * between + [EntryKind.TURN]


def test_an_earlier_settlement_is_kept_when_a_later_input_is_given_up() -> None:
    writer = new_writer()
    record(writer, INPUT)
    record(writer, SETTLED, of=0)
    writer.stored()
    record(writer, INPUT)
    writer.store_failed(now=10)
    writer.tick(now=11)

    assert [kind for kind, _ in store_all(writer)] == [SETTLED]


@pytest.mark.parametrize("answer", ["stored", "store_failed"])
def test_the_disk_answers_only_what_it_was_given(answer: str) -> None:
    writer = new_writer()

    with pytest.raises(AssertionError):
        writer.stored() if answer == "stored" else writer.store_failed(now=0)


class ADiskThatRefuses(RuleBasedStateMachine):
    """Records of all kinds come in while the disk takes some and refuses some."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.logbook = Logbook(genesis(SESSION))
        self.writer = LogWriter(self.logbook, Incarnation(1))
        self.happened: list[EntryKind] = []
        self.out: Store | None = None
        self.is_cut = True
        self.lines: list[bytes] = []
        self.line_up: list[tuple[EntryKind, int]] = []
        self.committed: list[tuple[EntryKind, int]] = []

    @rule(kind=st.sampled_from((ATTACHED, EntryKind.TURN)))
    def something_happens(self, kind: EntryKind) -> None:
        self.put(kind)

    # One at a time, but for one that was cut when its line was out already.
    @precondition(lambda self: self.waiting_input() in (None, 0) and self.is_cut)
    @rule()
    def an_input_is_admitted(self) -> None:
        self.put(INPUT)
        self.is_cut = False

    @precondition(lambda self: not self.is_cut)
    @rule()
    def the_input_is_cut(self) -> None:
        place = self.waiting_input()
        assert place is not None
        self.is_cut = True
        is_out = place == 0 and self.out is not None
        index = Index(self.logbook.head.index + 1 + place)
        assert self.writer.withdraw_input(index) == (not is_out)
        if not is_out:
            del self.line_up[place]

    @precondition(lambda self: self.out is not None)
    @rule()
    def the_disk_takes_it(self) -> None:
        assert self.out is not None
        entry, following = self.writer.stored()
        assert entry == self.out.entry, "I1"
        self.lines.append(entry.line)
        self.committed.append(self.line_up.pop(0))
        self.is_cut = self.is_cut or self.waiting_input() is None
        assert (entry.kind, entry.fields["x"]) == self.committed[-1], "I1"
        self.out = None
        self.hear(following)

    @precondition(lambda self: self.out is not None)
    @rule()
    def the_disk_refuses(self) -> None:
        self.writer.store_failed(self.now)
        self.out, self.is_cut = None, True
        self.line_up = [record for record in self.line_up if record[0] is not INPUT]
        assert self.writer.is_behind == bool(self.line_up)

    @rule(seconds=st.sampled_from((0.5, STORE_RETRY)))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.hear(self.writer.tick(self.now))

    @invariant()
    def nothing_but_inputs_is_ever_given_up(self) -> None:
        kept = self.committed + self.line_up
        assert [number for _, number in kept] == sorted(n for _, n in kept), "I1"
        known = {number for _, number in kept}
        for number, kind in enumerate(self.happened):
            assert kind is INPUT or number in known, "I2"
        assert self.writer.next_index == len(kept)

    @invariant()
    def the_file_verifies(self) -> None:
        assert verify(self.lines, SESSION).head == self.logbook.head
        assert self.writer.head == self.logbook.head

    def teardown(self) -> None:
        while self.out is not None or self.writer.is_behind:
            self.time_passes(STORE_RETRY)
            self.the_disk_takes_it()
        assert self.line_up == [], "I2"

    def waiting_input(self) -> int | None:
        places = [at for at, (kind, _) in enumerate(self.line_up) if kind is INPUT]
        return places[-1] if places else None

    def put(self, kind: EntryKind) -> None:
        number = len(self.happened)
        self.happened.append(kind)
        self.line_up.append((kind, number))
        self.hear(self.writer.record(kind, {"x": number}, Epoch(1), AT))

    def hear(self, stores: list[Store]) -> None:
        for store in stores:
            assert self.out is None
            self.out = store


ADiskThatRefuses.TestCase.settings = settings(stateful_step_count=30)
TestADiskThatRefuses = ADiskThatRefuses.TestCase


def test_a_checkpoint_that_the_disk_refuses_is_given_up() -> None:
    writer = LogWriter(Logbook(genesis(SESSION)), Incarnation(1))
    assert writer.is_idle
    writer.record(EntryKind.CHECKPOINT, {"state": "", "size": 0}, Epoch(1), AT)
    assert not writer.is_idle

    writer.store_failed(0.0)

    assert writer.is_idle
    assert not writer.is_behind
