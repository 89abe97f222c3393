"""What the SDK's values say of themselves."""

import pytest

from holdfast.model.actors import ActorKind
from holdfast.model.geometry import MAX_SIDE, Size
from holdfast.model.ids import ActorId, ClientId, Epoch, SessionId
from holdfast.model.session_record import Cells
from holdfast.sdk.values import (
    Chunk,
    CommandResult,
    Cursor,
    Match,
    Screen,
    SessionInfo,
    Standing,
    Stop,
)
from holdfast.wire.messages import Mode
from holdfast.wire.presence import Present

ANNA, BOT = ActorId("a_" + "a" * 32), ActorId("a_" + "b" * 32)
HIDDEN = b"a\x1b[8mb\x1b[0m\r\n"


def result(left_out: int) -> CommandResult:
    return CommandResult(
        line="make",
        status=0,
        raw=HIDDEN,
        duration=1.5,
        cwd="/",
        left_out=left_out,
        start=0,
        end=9,
        number=1,
        stopped=Stop.ENDED,
        state="",
    )


def present(actor: ActorId, name: str, client: str) -> Present:
    return Present(
        client=ClientId("c_" + client * 16),
        actor=actor,
        kind=ActorKind.HUMAN,
        name=name,
        mode=Mode.OPERATE,
        program="cli",
        for_ms=1,
    )


def standing(holder: str) -> Standing:
    here = (
        present(ANNA, "anna", "a"),
        present(BOT, "b\x1bt", "b"),
        present(ANNA, "anna", "c"),
    )
    return Standing(ANNA, here, ActorId(holder), Epoch(1), (), False, (), ())  # noqa: FBT003  # a record


def test_a_session_says_when_it_was_made_in_seconds_and_whether_it_is_kept() -> None:
    info = SessionInfo(SessionId("s_x"), created_ms=1500, exit=-9, keep=True)

    assert (info.created_wall, info.exit_status, info.is_kept) == (1.5, -9, True)
    assert not info._replace(keep=False).is_kept


@pytest.mark.parametrize(
    ("told", "size"),
    [((80, 24), (80, 24)), ((0, 0), (1, 1)), ((99999, 7), (MAX_SIDE, 7))],
)
def test_a_session_s_size_is_one_that_a_terminal_can_have(
    told: tuple[int, int], size: tuple[int, int]
) -> None:
    info = SessionInfo(SessionId("s_x"), size=Cells(*told))

    assert info.size == Size(*size)


def test_output_is_truncated_if_a_byte_of_it_is_left_out() -> None:
    assert [result(left).is_truncated for left in (0, 1)] == [False, True]


def test_output_is_plain_text_and_what_nobody_saw_is_marked() -> None:
    chunk = Chunk(5, HIDDEN, 2)

    for one in (result(0).marks, chunk.marks):
        assert [mark.text for mark in one] == ["b"]
    assert result(0).output == chunk.text
    assert "\x1b" not in chunk.text


def test_a_stretch_ends_after_its_last_byte() -> None:
    assert Chunk(5, b"abc", 0).end == Match(5, b"abc", ()).end == 8
    assert Chunk(5, b"", 0).end == 5


def test_a_screen_s_text_has_no_blanks_at_the_end_and_keeps_those_before() -> None:
    screen = Screen(
        lines=("", "  a  ", "", "b ", "", "  "),
        cursor=Cursor(0, 0, is_visible=True),
        marks=(),
        size=Size(80, 24),
        title="",
        offset=0,
        above=0,
        is_exact=True,
        is_alternate=False,
    )

    assert screen.text == "\n  a\n\nb"


@pytest.mark.parametrize(
    ("holder", "is_ours", "is_free"),
    [(ANNA, True, False), (BOT, False, False), ("", False, True)],
)
def test_the_turn_is_ours_or_free_or_another_s(
    *, holder: str, is_ours: bool, is_free: bool
) -> None:
    now = standing(holder)

    assert (now.has_turn, now.is_free) == (is_ours, is_free)


def test_an_operator_is_told_by_name_and_by_every_client() -> None:
    now = standing("")

    assert now.name_of(ANNA) == "anna"
    assert "\x1b" not in now.name_of(BOT)
    assert now.name_of(ActorId("a_nobody")) == ""
    assert now.clients_of(ANNA) == ("c_" + "a" * 16, "c_" + "c" * 16)
    assert now.clients_of(ActorId("a_nobody")) == ()
