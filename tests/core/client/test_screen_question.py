import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.client.screen_question import MAX_PARTS, screen, seen_from
from holdfast.core.session.paint_requests import Picture
from holdfast.holder.output.attach_view import screen_parts
from holdfast.model.errors import MalformedMessage, PainterDied
from holdfast.model.geometry import Size
from holdfast.term.cells import Run
from holdfast.term.screen import Screen
from holdfast.term.unseen import Hidden, Reason
from holdfast.wire.codec import decode, encode, refusal
from holdfast.wire.frames import FrameKind, FrameReader
from holdfast.wire.screens import Screen as ScreenPart
from holdfast.wire.screens import ScreenRequest

TEXTS = st.text(st.sampled_from("ab 漢🙂\u0301"), max_size=30)
SCREENS = st.builds(
    Screen,
    size=st.just(Size(30, 5)),
    lines=st.lists(TEXTS, max_size=5).map(tuple),
    cursor_row=st.integers(0, 4),
    cursor_column=st.integers(0, 29),
    title=TEXTS,
    alternate=st.booleans(),
    runs=st.lists(st.builds(Run, st.integers(0, 4), TEXTS), max_size=200).map(tuple),
    hidden=st.lists(
        st.builds(
            Hidden,
            st.integers(0, 4),
            st.integers(0, 9),
            st.integers(10, 30),
            st.sampled_from(Reason),
        ),
        max_size=40,
    ).map(tuple),
    above=st.integers(0, 999),
)


def parts_of(
    screen: Screen, offset: int = 7, *, exact: bool = True
) -> list[ScreenPart]:
    return screen_parts(screen, Picture(offset, screen.size, b"", exact))


@given(screen=SCREENS)
def test_a_screen_arrives_as_it_was_sent(screen: Screen) -> None:
    sent = b"".join(map(encode, parts_of(screen)))
    parts = [decode(frame) for frame in FrameReader().feed(sent)]

    seen = seen_from([part for part in parts if isinstance(part, ScreenPart)])
    assert (seen.screen, seen.offset, seen.exact) == (screen, 7, True)


def test_the_largest_screen_comes_in_parts_that_fit() -> None:
    line = "🙂" * 16_000
    runs = tuple(Run(number % 1000, "🙂" * 256) for number in range(16_384))
    screen = Screen(Size(1000, 1000), (line,) * 20, runs=runs)
    parts = parts_of(screen)

    assert max(len(encode(part)) for part in parts) < 256 * 1024
    assert len(parts) <= MAX_PARTS
    assert seen_from(parts).screen == screen


def test_the_parts_of_an_answer_make_a_screen() -> None:
    shown = Screen(Size(9, 2), ("ab", "c"), runs=(Run(0, "x"),) * 100)
    question = screen(cells=True)
    gather = question.begin()

    assert question.asked == (ScreenRequest(cells=True),)
    *parts, last = parts_of(shown, exact=False)
    assert [gather(part) for part in parts] == [None] * len(parts)
    seen = gather(last)
    assert seen is not None
    assert (seen.screen, seen.exact) == (shown, False)


def test_a_screen_without_end_is_refused() -> None:
    gather = screen(cells=False).begin()
    part = parts_of(Screen(Size(9, 2), (), runs=(Run(0, "x"),) * 100))[0]
    for _ in range(MAX_PARTS):
        gather(part)

    with pytest.raises(MalformedMessage):
        gather(part)


def test_a_session_without_a_painter_says_so() -> None:
    gather = screen(cells=False).begin()

    with pytest.raises(PainterDied):
        gather(refusal(PainterDied("gone"), FrameKind.SCREEN_REQUEST))
