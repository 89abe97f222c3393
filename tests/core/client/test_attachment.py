import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.cli.support.operating import waiting
from tests.core.signing import ANNA, KEY

from holdfast.core.client.attachment import Attachment
from holdfast.core.client.cleared_screen import cleared
from holdfast.core.client.signing import Pen
from holdfast.model.actors import ActorKind
from holdfast.model.errors import (
    Busy,
    HoldfastError,
    InputCut,
    InputGap,
    NotYourTurn,
    OutcomeUnknown,
    StatementRefused,
    TurnMoved,
)
from holdfast.model.ids import (
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    Index,
    actor_id,
    client_id,
    session_id,
)
from holdfast.model.inputs import InputId, InputKind
from holdfast.wire.codec import encode, refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Acknowledge,
    Attached,
    Cells,
    Ending,
    Gap,
    Keyframe,
    Mode,
    Operator,
    Output,
    Pong,
    Refuse,
    Report,
    TurnPassed,
)
from holdfast.wire.signatures import Signed

US, OTHER = actor_id(b"us"), actor_id(b"other")
CLIENT, ELSE = client_id(b"0123456789"), client_id(b"9876543210")
SESSION = session_id(b"0123456789")
SIZE = Cells(80, 24)
NOBODY = ActorId("")


def attached(
    holder: ActorId = NOBODY, epoch: int = 0, incarnation: int = 1
) -> Attached:
    return Attached(
        session=SESSION,
        name="web",
        incarnation=Incarnation(incarnation),
        epoch=Epoch(epoch),
        holder=holder,
        start=0,
        end=0,
        state="running",
        size=SIZE,
        operators=(
            Operator(US, ActorKind.HUMAN, "anna", CLIENT),
            Operator(OTHER, ActorKind.AGENT, "robo", ELSE),
        ),
    )


def view(mode: Mode = Mode.OPERATE) -> Attachment:
    made = Attachment(SESSION, CLIENT, bytes(32), mode)
    made.heard(attached())
    return made


def refuse(error: HoldfastError, sequence: int, client: ClientId = CLIENT) -> Refuse:
    return refusal(error, FrameKind.SUBMIT, InputId(client, sequence))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20))))
def test_i1_no_byte_is_handed_out_twice(pieces: list[tuple[int, int]]) -> None:
    stream = bytes(range(80))
    seen = view()
    shown = b""
    for offset, size in pieces:
        if offset <= (seen.offset or 0):
            shown += seen.heard(Output(offset, stream[offset : offset + size]))

    assert stream.startswith(shown)
    assert (seen.offset or 0) == len(shown)


def test_a_gap_and_a_keyframe_move_the_place_to_go_on() -> None:
    seen = view()

    assert seen.heard(Gap(0, 100)) == b""
    assert seen.offset == 100
    painted = seen.heard(Keyframe(offset=150, size=SIZE, more=False, data=b"screen"))
    assert (painted, seen.offset) == (cleared(SIZE.rows) + b"screen", 150)


def test_the_first_picture_of_all_is_begun_on_a_clear_screen() -> None:
    part = Keyframe(offset=9, size=SIZE, more=True, data=b"one")

    seen = Attachment(SESSION, CLIENT, bytes(32))
    assert seen.heard(part) == cleared(SIZE.rows) + b"one"


def test_a_picture_is_complete_with_its_last_part_and_not_before() -> None:
    seen = view()
    first = Keyframe(offset=9, size=SIZE, more=True, data=b"one ")
    last = Keyframe(offset=9, size=SIZE, more=False, data=b"picture")

    assert seen.heard(first) == cleared(SIZE.rows) + b"one "
    assert seen.offset is None
    assert seen.heard(last) == b"picture"
    assert seen.offset == 9


def test_a_picture_cut_off_half_way_is_begun_anew_on_the_next_link() -> None:
    seen = view()
    part = Keyframe(offset=9, size=SIZE, more=True, data=b"half")
    seen.heard(part)

    seen.heard(attached())
    assert seen.heard(part) == cleared(SIZE.rows) + b"half"


def test_a_new_link_goes_on_after_the_last_byte() -> None:
    seen = view()
    seen.heard(Output(0, b"abc"))

    asked = seen.attach(SIZE, keyframe=True)

    assert (asked.after, asked.incarnation, asked.client) == (3, 1, CLIENT)


def test_another_life_begins_at_its_own_beginning() -> None:
    seen = view()
    seen.heard(Output(0, b"abc"))

    seen.heard(attached(incarnation=2))

    assert seen.attach(None, keyframe=False).after is None
    assert seen.heard(Output(0, b"xyz")) == b"xyz"


def test_it_is_about_the_first_life_until_another_is_told() -> None:
    assert Attachment(SESSION, CLIENT, bytes(32)).life == 1
    seen = view()
    seen.heard(attached(incarnation=2))
    assert seen.life == 2


def test_i2_an_input_keeps_its_id_until_it_is_answered() -> None:
    seen = view()
    first = seen.submit(InputKind.KEYS, b"a")
    second = seen.submit(InputKind.KEYS, b"b")

    assert seen.open == [first, second]
    assert seen.open_count == 2
    assert seen.answered(Acknowledge(CLIENT, 1, Index(0), None)) == (1, None)
    assert seen.open == [second]
    assert seen.open_count == 1
    assert seen.answered(Acknowledge(CLIENT, 1, Index(0), None)) is None


@given(st.lists(st.integers(0, 9)))
def test_i3_ids_are_counted_without_gaps(payloads: list[int]) -> None:
    seen = view()

    made = [seen.submit(InputKind.KEYS, bytes([number])) for number in payloads]

    assert [given.sequence for given in made] == list(range(1, len(payloads) + 1))
    assert seen.open_count == len(seen.open) == len(made)


def test_what_had_no_room_waits_and_so_does_what_came_after() -> None:
    seen = view()
    first = seen.submit(InputKind.KEYS, b"a")
    second = seen.submit(InputKind.KEYS, b"b")

    assert seen.answered(refuse(Busy(1, 1), 1)) is None
    assert seen.answered(refuse(InputGap(CLIENT, 1, 2), 2)) is None
    assert seen.is_stalled
    assert seen.open == [first, second]
    seen.answered(Acknowledge(CLIENT, 1, Index(0), None))
    assert seen.is_stalled
    seen.answered(Acknowledge(CLIENT, 2, Index(1), None))
    assert not seen.is_stalled


def test_nothing_waits_that_had_room() -> None:
    seen = view()
    seen.submit(InputKind.KEYS, b"a")
    seen.submit(InputKind.KEYS, b"b")

    seen.answered(Acknowledge(CLIENT, 1, Index(0), None))

    assert not seen.is_stalled


def test_a_holder_that_waits_for_no_number_waits_for_the_same() -> None:
    seen = view()
    sent = seen.submit(InputKind.KEYS, b"a")
    gap = refuse(InputGap(CLIENT, 1, 1), 1)

    assert seen.answered(replace(gap, facts={**gap.facts, "expected": "?"})) is None
    assert (seen.open, seen.is_stalled) == ([sent], True)


@pytest.mark.parametrize("is_stalled", [False, True])
def test_counting_goes_on_where_the_holder_waits(*, is_stalled: bool) -> None:
    seen = view()
    seen.submit(InputKind.KEYS, b"a")
    seen.answered(refuse(NotYourTurn("robo", 1), 1))
    seen.submit(InputKind.KEYS, b"b")
    if is_stalled:
        seen.answered(refuse(Busy(1, 1), 2))

    settled = seen.answered(refuse(InputGap(CLIENT, 1, 2), 2))

    assert settled is not None
    assert (settled[0], seen.open, seen.is_stalled) == (2, [], False)
    assert seen.submit(InputKind.KEYS, b"c").sequence == 1


@pytest.mark.parametrize(
    ("ending", "holder", "error"),
    [
        (Ending.CUT, OTHER, InputCut(2, 3)),
        (Ending.DROPPED, OTHER, TurnMoved(OTHER, 7)),
        (Ending.DROPPED, None, TurnMoved("", 7)),
        (Ending.UNKNOWN, OTHER, OutcomeUnknown(CLIENT, 1)),
    ],
)
def test_an_input_that_was_not_applied_says_why(
    ending: Ending, holder: ActorId | None, error: HoldfastError
) -> None:
    seen = view()
    seen.heard(attached(epoch=7))
    seen.holder = holder
    seen.submit(InputKind.KEYS, b"abc")

    settled = seen.answered(Report(CLIENT, 1, ending, Index(0), 2))

    assert settled is not None
    assert settled[1] is not None
    assert (type(settled[1]), settled[1].facts) == (type(error), error.facts)
    assert seen.answered(Report(CLIENT, 1, ending, Index(0), 2)) is None


def test_answers_to_others_and_other_messages_settle_nothing() -> None:
    seen = view()
    seen.submit(InputKind.KEYS, b"abc")

    assert seen.answered(Acknowledge(ELSE, 1, Index(0), None)) is None
    assert seen.answered(Report(ELSE, 1, Ending.CUT, Index(0), 0)) is None
    assert seen.answered(refuse(Busy(1, 1), 1, ELSE)) is None
    assert seen.answered(Pong(1)) is None
    assert seen.heard(Pong(1)) == b""
    assert len(seen.open) == 1


def test_who_may_write_follows_the_turn() -> None:
    seen = view()
    assert seen.may_write
    passed = TurnPassed(
        former=NOBODY,
        holder=OTHER,
        epoch=Epoch(7),
        reason="taken",
        dropped_inputs=0,
        dropped_bytes=0,
    )

    seen.heard(passed)

    assert not seen.may_write
    assert seen.submit(InputKind.KEYS, b"x").epoch == 7
    assert not view(Mode.OBSERVE).may_write
    assert [who.name for who in seen.others] == ["robo"]


def test_a_view_made_afresh_has_seen_as_much_and_sent_nothing() -> None:
    view = Attachment(SESSION, CLIENT, bytes(32))
    view.heard(attached(epoch=5))
    view.heard(Output(0, b"seen"))
    view.submit(InputKind.COMMAND, b"x")
    told: list[int] = []
    view.held = lambda pending: told.append(pending.ticket)

    again = view.afresh()
    assert (again.offset, again.epoch, again.incarnation) == (4, 5, 1)
    assert (again.us, again.others, again.mode) == (US, view.others, view.mode)
    assert (again.open, again.has_sent, view.has_sent) == ([], False, True)
    again.heard(waiting(actor=US, ticket=3))
    assert told == [3]
    assert again.submit(InputKind.COMMAND, b"x").sequence == 1


def ended(outcome: Ending) -> Report:
    return Report(CLIENT, 1, outcome, Index(3), 0)


@pytest.mark.parametrize(
    "answer",
    [Acknowledge(CLIENT, 1, Index(3), None), ended(Ending.CUT), ended(Ending.DROPPED)],
)
def test_what_the_book_has_is_to_be_signed(answer: Acknowledge | Report) -> None:
    ours = view()
    ours.submit(InputKind.KEYS, b"x")
    assert ours.signing.is_done

    ours.answered(answer)

    assert not ours.signing.is_done


def test_what_was_refused_is_not_signed_by_itself() -> None:
    ours = view()
    ours.submit(InputKind.KEYS, b"x")

    ours.answered(refuse(TurnMoved("", ours.epoch), 1))

    assert ours.signing.is_done


def test_what_becomes_of_a_statement_is_heard() -> None:
    kept, refused = view(), view()
    for one in (kept, refused):
        one.submit(InputKind.KEYS, b"x")
        one.answered(Acknowledge(CLIENT, 1, Index(3), None))
        assert one.signing.sign(Pen(KEY, ANNA)) is not None

    kept.heard(Signed(CLIENT, 1))
    refused.heard(refusal(StatementRefused("no"), FrameKind.SIGN))
    refused.heard(refusal(StatementRefused("no"), FrameKind.TAKE))

    assert kept.signing.is_done
    assert refused.signing.is_done


def test_the_next_key_is_foreseen_as_it_is_made() -> None:
    client = Attachment(SESSION, CLIENT, bytes(32))
    client.take(attached(US, epoch=4))
    for key in (b"a", b"b"):
        client.take(Output(client.offset or 0, b"echo"))
        before, after = client.foresee()

        made = client.submit(InputKind.KEYS, key, waits=False)

        assert before + key + after == encode(made)
