import contextlib

import pytest

from holdfast.conformance.kinds import KINDS
from holdfast.conformance.link import OFFSET, Closed, Link, Notes, frame, raw_frame
from holdfast.conformance.packed_form import packed
from holdfast.conformance.verdict import Broken


class Recorded:
    """A carrier that says what it was given, in these pieces, and hangs up."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = [*pieces, b""]
        self.sent = b""

    def send(self, raw: bytes) -> None:
        self.sent += raw

    def receive(self, timeout: float) -> bytes | None:  # noqa: ARG002
        return self._pieces.pop(0)

    def close(self) -> None:
        self._pieces.clear()


def heard(*pieces: bytes) -> tuple[Link, Notes]:
    notes = Notes()
    link = Link(Recorded(*pieces), notes)
    with contextlib.suppress(Closed):
        while link.receive() is not None:
            pass
    return link, notes


def output(offset: int, data: bytes) -> bytes:
    return raw_frame(KINDS["OUTPUT"].number, OFFSET.pack(offset) + data)


def passed(epoch: int) -> bytes:
    none = {"dropped_inputs": 0, "dropped_bytes": 0}
    told = {"former": "", "holder": "", "epoch": epoch, "reason": "dropped", **none}
    return frame("TURN_PASSED", **told)  # type: ignore[arg-type]


def test_frames_are_read_however_they_are_cut() -> None:
    raw = frame("PONG", number=1) + frame("PONG", number=2)
    link, notes = heard(*(raw[at : at + 1] for at in range(len(raw))))

    assert [one["number"] for one in link.heard] == [1, 2]
    assert notes == Notes(frames=2)


def test_a_stream_without_a_break_is_as_it_should_be() -> None:
    gap = frame("GAP", start=3, end=9)
    link, notes = heard(output(0, b"abc"), gap, output(9, b"d"), output(10, b"e"))

    assert notes.order == []
    assert link.output == b"abcde"


@pytest.mark.parametrize(
    "second",
    [
        output(2, b"c"),
        output(4, b"e"),
        frame("GAP", start=2, end=9),
        frame("GAP", start=3, end=3),
    ],
)
def test_a_stream_that_goes_on_elsewhere_is_noted(second: bytes) -> None:
    _, notes = heard(output(0, b"abc"), second)

    assert len(notes.order) == 1


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x80",
        b"\x81" + packed("number") + b"\xcc\x05",
        packed({"number": 1, "more": 2}),
        packed(5),
    ],
)
def test_a_payload_in_another_form_is_noted(payload: bytes) -> None:
    _, notes = heard(raw_frame(KINDS["PONG"].number, payload))

    assert len(notes.form) == 1


def test_facts_in_disorder_are_noted() -> None:
    fields = {"name": "x", "session": "", "fields": {"b": 1, "a": 2}}
    _, notes = heard(raw_frame(KINDS["EVENT"].number, packed(fields)))  # type: ignore[arg-type]

    assert notes.form == ["EVENT: fields are not in order"]


def test_a_kind_that_the_session_s_side_does_not_send_is_noted() -> None:
    _, notes = heard(frame("TAKE"), raw_frame(0x13, b"\x80"))

    assert notes.side == ["TAKE", "0x13, which is no kind"]


def test_epochs_that_do_not_rise_are_noted() -> None:
    _, notes = heard(passed(4), passed(5), passed(5))

    assert notes.epochs == ["5 after 5"]


def test_output_without_a_byte_is_noted() -> None:
    _, notes = heard(output(0, b""))

    assert notes.form == ["OUTPUT without a byte"]


def test_a_frame_over_the_limit_is_broken() -> None:
    with pytest.raises(Broken):
        heard(b"\x04\xff\xff\xff\xff")


def test_a_hang_up_says_the_last_code() -> None:
    link = Link(Recorded(frame("GOODBYE", code="busy", text="")), Notes())

    assert link.closes("x") == "busy"


def test_an_answer_that_must_not_come_is_broken() -> None:
    link = Link(Recorded(frame("PONG", number=1)), Notes())

    with pytest.raises(Broken, match="it answered x with PONG"):
        link.closes("x", unless=("PONG",))


def test_what_hangs_up_instead_of_an_answer_is_broken() -> None:
    with pytest.raises(Broken, match="hung up"):
        Link(Recorded(), Notes()).wait("PONG")
    with pytest.raises(Broken, match="hung up"):
        Link(Recorded(), Notes()).wait_for_text(b"x")
