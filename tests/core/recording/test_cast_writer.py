from hypothesis import given
from hypothesis import strategies as st
from tests.core.recording.cast_parser import parsed

from holdfast.core.recording.cast_writer import MAX_HELD, CastWriter
from holdfast.core.recording.masks import Masks
from holdfast.model.geometry import Size

SIZE = Size(80, 24)

Events = list[tuple[float, str, str]]


class Story:
    """A recording in memory."""

    def __init__(self, *masks: str) -> None:
        self.writer = CastWriter(Masks(masks))
        self.lines = [self.writer.header(SIZE, "xterm-256color", "a\x1bb", 1.9)]

    def add(self, lines: list[str]) -> "Story":
        self.lines += lines
        return self

    def events(self) -> Events:
        return parsed("".join(self.lines).encode())[1]


def test_the_first_line_says_what_was_recorded() -> None:
    header, events = parsed("".join(Story().lines).encode())

    assert header["term"] == {"cols": 80, "rows": 24, "type": "xterm-256color"}
    assert header["timestamp"] == 1
    assert "\x1b" not in header["title"]
    assert events == []


def test_everything_has_the_time_at_which_it_came() -> None:
    story = Story()
    story.add(story.writer.shown("screen", 0.0))
    story.add(story.writer.printed(b"one\n", 0.5))
    story.add(story.writer.resized(Size(100, 30), 1.25))
    story.add(story.writer.marked("make", 2.0))
    story.add(story.writer.printed(b"two\n", 2.0014))
    story.add(story.writer.ended(0, 3.0))

    assert story.events() == [
        (0.0, "o", "screen"),
        (0.5, "o", "one\n"),
        (1.25, "r", "100x30"),
        (2.0, "m", "make"),
        (2.001, "o", "two\n"),
        (3.0, "x", "0"),
    ]


def test_a_secret_that_comes_in_pieces_is_hidden_and_keeps_its_times() -> None:
    story = Story("hunter2")
    for at, piece in enumerate([b"my hun", b"te", b"r2!", b"\nrest"]):
        story.add(story.writer.printed(piece, float(at)))
    assert len(story.lines) == 5
    story.add(story.writer.ended(None, 9.0))

    assert story.events() == [
        (0.0, "o", "my ***"),
        (1.0, "o", "**"),
        (2.0, "o", "**!"),
        (3.0, "o", "\n"),
        (3.0, "o", "rest"),
    ]


def test_what_comes_in_the_middle_of_a_line_stays_in_its_place() -> None:
    story = Story()
    story.add(story.writer.printed(b"pass", 1.0))
    story.add(story.writer.resized(SIZE, 2.0))
    story.add(story.writer.printed(b"word=abc\n", 3.0))

    assert story.events() == [
        (1.0, "o", "pass"),
        (2.0, "r", "80x24"),
        (3.0, "o", "word=***\n"),
    ]


def test_a_line_without_end_is_written_when_it_is_too_long() -> None:
    story = Story()
    assert story.writer.printed(b"x" * MAX_HELD, 0.0) == []
    story.add(story.writer.printed(b"y", 1.0))

    assert [len(data) for _, _, data in story.events()] == [MAX_HELD, 1]


def test_a_character_that_was_cut_in_two_is_put_together() -> None:
    story = Story()
    raw = "ü\n".encode()
    story.add(story.writer.printed(raw[:1], 0.0))
    story.add(story.writer.printed(raw[1:], 1.0))
    story.add(story.writer.printed(b"\xff\n\xc3", 2.0))
    story.add(story.writer.ended(None, 3.0))

    shown = "".join(data for _, _, data in story.events())
    assert shown == "ü\n\ufffd\n\ufffd"


def test_output_that_is_missing_is_a_marker() -> None:
    story = Story()
    story.add(story.writer.printed(b"\xc3", 0.0))
    story.add(story.writer.missed(500, 1.0))
    story.add(story.writer.printed(b"after\n", 2.0))

    assert story.events() == [
        (1.0, "m", "500 bytes of output are missing"),
        (2.0, "o", "after\n"),
    ]


def test_a_marker_hides_secrets_too() -> None:
    story = Story()
    story.add(story.writer.marked("curl -H token=abc\n", 1.0))

    ((_, _, mark),) = story.events()
    assert mark.startswith("curl -H token=***")
    assert "\n" not in mark


def test_a_clock_that_goes_back_makes_no_interval_below_zero() -> None:
    story = Story()
    story.add(story.writer.printed(b"a\n", 5.0))
    story.add(story.writer.printed(b"b\n", 4.0))
    story.add(story.writer.printed(b"c\n", 6.0))

    assert [at for at, _, _ in story.events()] == [5.0, 5.0, 6.0]


@given(
    st.lists(
        st.tuples(st.binary(max_size=20), st.floats(0, 2), st.booleans()), max_size=20
    )
)
def test_whatever_is_printed_is_written_once_and_in_order(
    pieces: list[tuple[bytes, float, bool]],
) -> None:
    story, at = Story(), 0.0
    for piece, wait, is_resized in pieces:
        at += wait
        story.add(story.writer.printed(piece, at))
        if is_resized:
            story.add(story.writer.resized(SIZE, at))
    story.add(story.writer.ended(1, at))

    events = story.events()
    raw = b"".join(piece for piece, _, _ in pieces)
    shown = "".join(data for _, code, data in events if code == "o")
    assert len(shown) == len(raw.decode("utf-8", "replace"))
    assert sum(code == "r" for _, code, _ in events) == sum(one[2] for one in pieces)
    assert events[-1][1:] == ("x", "1")
