import pytest

from holdfast.core.input.serializer import (
    MAX_CLIENTS,
    QUEUE_BYTES,
    QUEUE_INPUTS,
    REMEMBERED,
    Answer,
    Apply,
    CutReport,
    Effect,
    Judge,
    PastInput,
    Serializer,
    Sync,
)
from holdfast.model.errors import DeniedByPolicy, TurnMoved
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, Index
from holdfast.model.inputs import MAX_INPUT, Input, InputId, InputKind
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown

ANNA, BOT = ActorId("anna"), ActorId("bot")
MOVED = TurnMoved("bot", 2)


def keys(
    sequence: int, payload: bytes = b"ls\r", *, client: str = "c", actor: ActorId = ANNA
) -> Input:
    return Input(
        InputId(ClientId(client), sequence),
        actor,
        InputKind.KEYS,
        Incarnation(1),
        Epoch(1),
        payload,
    )


def line_of(*inputs: Input) -> Serializer:
    line = Serializer()
    for given in inputs:
        line.submit(given)
    return line


def apply_next(line: Serializer, index: int, size: int = 3) -> list[Effect]:
    line.admit(Index(index))
    line.stored(Index(index))
    return line.wrote(Index(index), size)


def applied_line(count: int) -> Serializer:
    line = Serializer()
    for number in range(count):
        line.submit(keys(number + 1))
        apply_next(line, number)
        line.synced(Index(number))
    return line


def outcomes(effects: list[Effect]) -> list[tuple[int, Outcome]]:
    return [
        (effect.id.sequence, effect.outcome)
        for effect in effects
        if isinstance(effect, Answer)
    ]


def codes(effects: list[Effect]) -> list[tuple[int, str]]:
    return [
        (sequence, outcome.error.code)
        for sequence, outcome in outcomes(effects)
        if isinstance(outcome, Refused)
    ]


def test_an_input_is_judged_logged_applied_made_durable_and_acknowledged() -> None:
    line = Serializer()
    first = keys(1)

    assert line.submit(first) == [Judge(first)]
    line.admit(Index(4))
    assert line.writing is None
    assert line.stored(Index(4)) == [Apply(Index(4), first)]
    assert line.writing == 4
    assert line.wrote(Index(4), 2) == []
    assert line.wrote(Index(4), 1) == [Sync(Index(4))]
    assert line.writing is None
    assert line.outcome_of(ANNA, first.id) is None
    assert line.synced(Index(4)) == [Answer(ANNA, first.id, Applied(Index(4)))]
    assert line.outcome_of(ANNA, first.id) == Applied(Index(4))


def test_the_next_is_looked_at_only_when_the_first_is_applied() -> None:
    line = line_of(keys(1))
    second = keys(2)

    assert line.submit(second) == []
    assert line.queued_bytes == 3
    assert apply_next(line, 0) == [Sync(Index(0)), Judge(second)]
    assert line.queued_bytes == 0


def test_a_slow_disk_delays_acknowledgements_and_not_the_typing() -> None:
    line = line_of(keys(1), keys(2), keys(3))
    apply_next(line, 0)

    assert not any(isinstance(effect, Sync) for effect in apply_next(line, 1))
    assert line.synced(Index(0)) == [
        Answer(ANNA, keys(1).id, Applied(Index(0))),
        Sync(Index(1)),
    ]


def test_one_sync_acknowledges_all_that_it_covers() -> None:
    line = line_of(keys(1), keys(2))
    apply_next(line, 0)
    apply_next(line, 1)

    assert outcomes(line.synced(Index(1))) == [
        (1, Applied(Index(0))),
        (2, Applied(Index(1))),
    ]


def test_a_rejected_input_is_refused_and_the_next_is_looked_at() -> None:
    line = line_of(keys(1), keys(2))

    effects = line.reject(DeniedByPolicy("no", ""))

    assert codes(effects) == [(1, "denied-by-policy")]
    assert effects[-1] == Judge(keys(2))


def test_what_cannot_be_logged_does_not_happen() -> None:
    line = line_of(keys(1), keys(2))
    line.admit(Index(0))

    effects = line.store_failed("disk full")

    assert codes(effects) == [(1, "logbook-failed")]
    assert effects[-1] == Judge(keys(2))


def test_a_refusal_of_the_disk_does_not_touch_what_is_in_the_book() -> None:
    line = line_of(keys(1))
    assert line.store_failed("disk full") == []
    line.admit(Index(0))
    line.stored(Index(0))

    assert line.store_failed("disk full") == []
    assert line.writing == 0


def test_i4_a_repeat_learns_what_became_of_the_original() -> None:
    line = applied_line(2)

    assert line.submit(keys(1)) == [Answer(ANNA, keys(1).id, Applied(Index(0)))]


def test_i1_a_repeat_of_what_is_open_waits_for_the_one_answer() -> None:
    line = line_of(keys(1), keys(2))

    assert line.submit(keys(1)) == []
    assert line.submit(keys(2)) == []
    assert line.queued_bytes == 3


def test_one_id_cannot_stand_for_two_inputs() -> None:
    line = applied_line(1)

    assert codes(line.submit(keys(1, b"rm\r"))) == [(1, "input-id-reused")]
    assert line.outcome_of(ANNA, keys(1).id) == Applied(Index(0))


def test_one_actor_cannot_ask_for_or_repeat_anothers_input() -> None:
    line = applied_line(1)

    assert line.outcome_of(BOT, keys(1).id) is None
    assert line.submit(keys(1, actor=BOT)) == [Judge(keys(1, actor=BOT))]


def test_a_gap_is_refused_and_says_what_is_missing() -> None:
    line = applied_line(1)

    assert codes(line.submit(keys(3))) == [(3, "input-gap")]
    assert codes(line.submit(keys(2, client="other"))) == [(2, "input-gap")]


def test_what_is_too_old_to_be_remembered_is_not_applied_again() -> None:
    line = applied_line(REMEMBERED + 1)

    assert codes(line.submit(keys(1))) == [(1, "outcome-forgotten")]
    assert codes(line.submit(keys(0))) == [(0, "outcome-forgotten")]
    assert outcomes(line.submit(keys(2))) == [(2, Applied(Index(1)))]


@pytest.mark.parametrize("size", [0, MAX_INPUT + 1])
def test_an_input_has_a_size_that_an_input_may_have(size: int) -> None:
    assert codes(Serializer().submit(keys(1, bytes(size)))) == [(1, "input-too-large")]


def test_i5_no_more_inputs_wait_than_may() -> None:
    line = line_of(*(keys(number + 1, b"x") for number in range(QUEUE_INPUTS + 1)))

    one_more = keys(QUEUE_INPUTS + 2, b"x")

    assert codes(line.submit(one_more)) == [(QUEUE_INPUTS + 2, "busy")]
    line.reject(DeniedByPolicy("no", ""))
    assert line.submit(one_more) == []


def test_i5_no_more_bytes_wait_than_may() -> None:
    fits = QUEUE_BYTES // MAX_INPUT
    large = bytes(MAX_INPUT)
    line = line_of(*(keys(number + 1, large) for number in range(fits + 1)))

    assert line.queued_bytes == QUEUE_BYTES
    assert codes(line.submit(keys(fits + 2, b"x"))) == [(fits + 2, "busy")]


def test_i5_no_more_inputs_wait_for_the_disk_than_may() -> None:
    line = Serializer()
    for number in range(QUEUE_INPUTS):
        line.submit(keys(number + 1))
        apply_next(line, number)

    assert codes(line.submit(keys(QUEUE_INPUTS + 1))) == [(QUEUE_INPUTS + 1, "busy")]


def test_i5_the_longest_silent_client_is_forgotten_for_room() -> None:
    line = Serializer()
    for number in range(MAX_CLIENTS):
        line.submit(keys(1, client=f"c{number}"))
        line.reject(DeniedByPolicy("no", ""))
    line.submit(keys(2, client="c0"))
    line.reject(DeniedByPolicy("no", ""))

    assert line.submit(keys(1, client="new")) == [Judge(keys(1, client="new"))]
    assert line.outcome_of(ANNA, keys(1, client="c1").id) is None
    assert line.outcome_of(ANNA, keys(1, client="c0").id) is not None


def test_the_clients_of_whoever_has_the_turn_are_never_forgotten() -> None:
    line = Serializer()
    line.begin_turn(ANNA, Epoch(1))
    for number in range(MAX_CLIENTS):
        line.submit(keys(1, client=f"c{number}"))
        line.reject(DeniedByPolicy("no", ""))

    new = keys(1, client="new")

    assert codes(line.submit(new)) == [(1, "too-many-clients")]
    line.begin_turn(BOT, Epoch(2))
    assert line.submit(new) == [Judge(new)]


def test_a_client_with_something_open_is_never_forgotten() -> None:
    line = Serializer()
    for number in range(MAX_CLIENTS):
        line.submit(keys(1, client=f"c{number}"))

    assert codes(line.submit(keys(1, client="new"))) == [(1, "too-many-clients")]


def test_i3_a_cut_refuses_what_waits() -> None:
    line = line_of(keys(1), keys(2, b"12345"), keys(3, b"x"))

    report = line.cut(MOVED)

    assert (report.inputs, report.bytes) == (3, 9)
    assert (report.settled, report.unstored) == (None, None)
    assert codes(report.effects) == [
        (2, "turn-moved"),
        (3, "turn-moved"),
        (1, "turn-moved"),
    ]
    assert line.queued_bytes == 0


def test_i3_a_cut_of_what_was_not_in_the_book_says_where_it_would_stand() -> None:
    line = line_of(keys(1))
    line.admit(Index(4))

    report = line.cut(MOVED)

    assert (report.unstored, report.settled) == (4, None)
    assert codes(report.effects) == [(1, "turn-moved")]
    assert line.stored(Index(4)) == []
    assert line.wrote(Index(4), 3) == []


@pytest.mark.parametrize(
    ("written", "outcome"), [(0, Dropped(Index(4))), (2, Cut(Index(4), 2))]
)
def test_i3_a_cut_in_the_middle_says_how_much_went_in(
    written: int, outcome: Cut | Dropped
) -> None:
    line = line_of(keys(1))
    line.admit(Index(4))
    line.stored(Index(4))
    line.wrote(Index(4), written)

    report = line.cut(MOVED)

    assert report.settled == outcome
    assert (report.inputs, report.bytes) == (1, 3 - written)
    assert outcomes(report.effects) == [(1, outcome)]
    assert line.wrote(Index(4), 1) == []
    assert outcomes(line.submit(keys(1))) == [(1, outcome)]


def test_a_cut_of_nothing_is_nothing() -> None:
    assert Serializer().cut(MOVED) == CutReport()


def test_what_was_applied_before_a_cut_is_still_acknowledged() -> None:
    line = line_of(keys(1))
    apply_next(line, 0)
    line.cut(MOVED)

    assert outcomes(line.synced(Index(0))) == [(1, Applied(Index(0)))]


def test_i2_after_a_failed_sync_nothing_is_acknowledged_any_more() -> None:
    line = line_of(keys(1), keys(2), keys(3))
    apply_next(line, 0)
    line.admit(Index(1))
    line.stored(Index(1))

    assert outcomes(line.sync_failed("EIO"))[0] == (1, Unknown(Index(0)))
    assert line.broken == "EIO"
    assert line.wrote(Index(1), 3) == [Answer(ANNA, keys(2).id, Unknown(Index(1)))]
    assert line.synced(Index(1)) == []
    assert codes(line.submit(keys(4))) == [(4, "logbook-failed")]


def test_what_waits_is_refused_when_a_sync_fails() -> None:
    line = line_of(keys(1), keys(2), keys(3))

    assert codes(line.sync_failed("EIO")) == [
        (2, "logbook-failed"),
        (3, "logbook-failed"),
    ]


def past(given: Input, outcome: Outcome) -> PastInput:
    return PastInput(ANNA, given.id, given.digest(), outcome, Epoch(1))


def test_what_the_logbook_says_of_a_predecessors_inputs_is_taken_up() -> None:
    line = Serializer()
    line.remember(past(keys(1), Applied(Index(0))))
    secret = PastInput(ANNA, keys(2).id, None, Unknown(Index(3)), Epoch(1))
    line.remember(secret)

    assert outcomes(line.submit(keys(1))) == [(1, Applied(Index(0)))]
    assert codes(line.submit(keys(1, b"rm\r"))) == [(1, "input-id-reused")]
    assert outcomes(line.submit(keys(2, b"secret"))) == [(2, Unknown(Index(3)))]
    assert line.submit(keys(3)) == [Judge(keys(3))]


@pytest.mark.parametrize("holder", [None, ANNA, BOT])
def test_i5_what_is_taken_up_is_bounded_too(holder: ActorId | None) -> None:
    line = Serializer()
    line.begin_turn(holder, Epoch(1))
    for number in range(MAX_CLIENTS + 1):
        known = keys(1, client=f"c{number}")
        line.remember(past(known, Applied(Index(number))))

    assert line.outcome_of(ANNA, keys(1, client="c0").id) is None
    assert line.outcome_of(ANNA, keys(1, client="c1").id) == Applied(Index(1))


@pytest.mark.parametrize("answer", ["admit", "reject"])
def test_only_what_was_judged_is_answered(answer: str) -> None:
    line = Serializer()

    with pytest.raises(AssertionError):
        line.admit(Index(0)) if answer == "admit" else line.reject(MOVED)
