import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import FakeSession

from holdfast.client.screens import MAX_PARTS, see, seen_from
from holdfast.core.painting import Picture
from holdfast.holder.showing import screen_parts
from holdfast.model.errors import PainterDied, PeerError, SessionUnreachable
from holdfast.model.geometry import Size
from holdfast.term.cells import Run
from holdfast.term.screen import Screen
from holdfast.term.unseen import Hidden, Reason
from holdfast.wire.codec import decode, encode, refusal
from holdfast.wire.frames import FrameKind, FrameReader
from holdfast.wire.messages import Pong
from holdfast.wire.screens import Screen as ScreenPart

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


def test_a_session_is_asked_and_what_it_says_put_together(web: FakeSession) -> None:  # noqa: F811
    screen = Screen(Size(9, 2), ("ab", "c"), runs=(Run(0, "x"),) * 100)
    web.screen = [*parts_of(screen, exact=False)]

    seen = see(web.id, cells=True)
    assert seen.screen == screen
    assert not seen.exact
    assert web.asked_cells


def test_a_session_without_a_painter_says_so(web: FakeSession) -> None:  # noqa: F811
    web.screen = [refusal(PainterDied("gone"), FrameKind.SCREEN_REQUEST)]

    with pytest.raises(PainterDied):
        see(web.id)


def test_a_screen_that_does_not_come_is_not_waited_for(web: FakeSession) -> None:  # noqa: F811
    with pytest.raises(PainterDied):
        see(web.id, patience=0.2)


def test_a_screen_that_stops_half_way_is_none(web: FakeSession) -> None:  # noqa: F811
    screen = Screen(Size(9, 2), (), runs=(Run(0, "x"),) * 100)
    web.screen = [parts_of(screen)[0]]

    with pytest.raises(SessionUnreachable):
        see(web.id, patience=0.2)


def test_a_screen_without_end_is_refused(web: FakeSession) -> None:  # noqa: F811
    screen = Screen(Size(9, 2), (), runs=(Run(0, "x"),) * 100)
    web.screen = [parts_of(screen)[0]] * (MAX_PARTS + 2)

    with pytest.raises(PeerError):
        see(web.id)


def test_an_answer_to_something_else_is_refused(web: FakeSession) -> None:  # noqa: F811
    web.screen = [Pong(1)]

    with pytest.raises(PeerError):
        see(web.id)
