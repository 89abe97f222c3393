"""A command that is run early says what an ordinary one says."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.client.run_world import CLIENT, FAR, NOBODY, SESSION, attached, command

from holdfast.core.client.attachment import Attachment
from holdfast.core.client.command_run import CommandRun, Wish
from holdfast.core.client.early_command import MAX_OUTPUT, EarlyCommand
from holdfast.core.client.signing import Pen
from holdfast.core.input.commitments import SentInputs
from holdfast.crypto.keys import SigningKey
from holdfast.model.ids import ClientId, Epoch, Incarnation, Index, actor_id
from holdfast.term.plain_stream import last_states
from holdfast.term.printed import hidden_in_output
from holdfast.wire import first_messages as first
from holdfast.wire.codec import Message, encode
from holdfast.wire.commands import CommandEnded, CommandReport, CommandStarted
from holdfast.wire.first_messages import NotOneOfThese
from holdfast.wire.messages import Acknowledge, Drop, Exited, Output, Ping, TurnPassed
from holdfast.wire.presence import Who
from holdfast.wire.signatures import Signed

US = actor_id(b"us")
OTHER = ClientId("c_" + "b" * 16)
KEY = SigningKey.from_seed(bytes(32))
SECRET = bytes(range(32))
ECHO = Output(10, b"make\r\n....")
TYPED = Acknowledge(CLIENT, 1, Index(3), None)
TAKEN = TurnPassed(
    former=NOBODY,
    holder=US,
    epoch=Epoch(1),
    reason="taken",
    dropped_inputs=0,
    dropped_bytes=0,
)


class Both:
    """The same command, run early and run in the ordinary way."""

    def __init__(self) -> None:
        self.view = Attachment(SESSION, CLIENT, SECRET)
        self.view.us = US
        self.usual = CommandRun(self.view, b"make", Wish(100), now=0, deadline=FAR)
        self.usual.take_pen(Pen(KEY, US))
        self.early = EarlyCommand((CLIENT, US), b"make", self._attach, self._sign)
        self.said = self.early.asks_first()
        self.would_say = b"".join(map(encode, self.usual.linked(0)))

    def _attach(self, after: int | None) -> bytes:
        fields: first.Fields = {
            "session": SESSION,
            "client": CLIENT,
            "mode": "operate",
            "size": None,
            "incarnation": None,
            "after": after,
            "keyframe": False,
        }
        return first.frame(first.ATTACH, fields)

    def _sign(self, made: first.Fields) -> bytes:
        sent = SentInputs(SESSION, CLIENT, SECRET)
        sent.note_next(Incarnation(1), Epoch(0), "command", b"make\r")
        assert made["payload"] == b"make\r"
        return first.frame(first.SIGN, sent.statement(KEY, US, 1))

    def hear(self, *messages: Message) -> None:
        for message in messages:
            frame = encode(message)
            ((kind, payload),) = first.frames_in(bytearray(frame))
            self.said += self.early.hear(kind, payload)
            self.would_say += b"".join(map(encode, self.usual.hear(message, 0)))

    def begins(self, last: object = None) -> None:
        self.hear(CommandReport("prompt", None))
        self.hear(CommandReport("prompt", last))  # type: ignore[arg-type]
        self.hear(attached())

    def runs(self, output: bytes, status: int | None = 2) -> None:
        """Run it to its end, with this for its output."""
        end = 20 + len(output)
        self.begins()
        self.hear(TAKEN, ECHO, TYPED, CommandStarted(command()))
        if output:
            self.hear(Output(20, output))
        self.hear(CommandEnded(command(end=end, status=status)), Signed(CLIENT, 1))


def odd(kind: int, payload: bytes, both: Both) -> bool:
    try:
        both.early.hear(kind, payload)
    except NotOneOfThese:
        return True
    return False


def test_i1_all_that_is_said_is_what_an_ordinary_run_says() -> None:
    both = Both()

    both.runs(b"built\r\n")

    assert both.said == both.would_say
    assert both.early.is_over
    assert both.early.result() == ("built\n", 2)
    assert both.usual.result is not None
    assert both.early.leaves() == encode(Drop()) + encode(Who())


def test_i1_it_attaches_behind_the_command_before_it() -> None:
    both = Both()

    both.begins(last=command(end=9, status=0))

    assert both.said == both.would_say
    assert b"\xa5after\x09" in both.said
    assert both.early.has_begun


def test_a_command_that_prints_nothing_is_over_too() -> None:
    both = Both()

    both.runs(b"", status=0)

    assert both.early.is_over
    assert both.early.result() == ("", 0)


def test_it_is_over_only_when_it_has_ended_and_is_signed() -> None:
    both = Both()
    both.begins()
    assert not both.early.is_over
    both.hear(TYPED, CommandStarted(command()), CommandEnded(command(end=25, status=0)))
    assert not both.early.is_over
    both.hear(Output(10, b"make\r\n....built"))
    assert not both.early.is_over

    both.hear(Signed(CLIENT, 1))

    assert both.early.is_over


def test_what_became_of_it_may_be_asked_for() -> None:
    both = Both()
    both.begins()

    both.hear(TYPED, ECHO, CommandReport("running", command()), Signed(CLIENT, 1))
    both.hear(CommandReport("prompt", command(end=20, status=1)))

    assert both.early.result() == ("", 1)


def test_a_turn_that_was_not_taken_by_typing_is_not_dropped() -> None:
    both = Both()
    assert both.early.leaves() == b""

    both.begins()

    assert both.early.leaves() == b""


def test_the_command_of_another_client_is_not_ours() -> None:
    both = Both()
    both.begins()

    theirs = msgspec.structs.replace(command(end=20, status=0), client=OTHER)
    both.hear(TYPED, ECHO, CommandEnded(theirs), Signed(CLIENT, 1))

    assert not both.early.is_over
    with pytest.raises(NotOneOfThese):
        both.early.result()


@pytest.mark.parametrize(
    "messages",
    [
        [CommandReport("running", None)],
        [CommandReport("prompt", command(end=5, status=0))],
        [CommandReport("prompt", None), CommandReport("prompt", command())],
        [CommandReport("prompt", None)] * 3,
        [Ping(1)],
        [Exited(0)],
    ],
)
def test_what_is_unusual_before_it_is_typed_is_left(messages: list[Message]) -> None:
    both = Both()
    *before, last = [_framed(one) for one in messages]
    for kind, payload in before:
        both.early.hear(kind, payload)

    assert odd(*last, both)


@pytest.mark.parametrize(
    "message",
    [
        attached(),
        Acknowledge(OTHER, 1, Index(3), None),
        Acknowledge(CLIENT, 2, Index(3), None),
        Output(11, b"there is a hole before this"),
        Output(20, bytes(MAX_OUTPUT)),
        Exited(0),
    ],
)
def test_what_is_unusual_then_is_left(message: Message) -> None:
    both = Both()
    both.begins()
    both.hear(ECHO)

    assert odd(*_framed(message), both)


def test_an_input_is_acknowledged_once_and_its_command_is_known_then() -> None:
    both = Both()
    both.begins()
    both.hear(TYPED)

    assert odd(*_framed(TYPED), both)
    assert odd(*_framed(CommandReport("prompt", None)), both)


def test_a_session_that_has_ended_is_left() -> None:
    both = Both()
    both.hear(CommandReport("prompt", None), CommandReport("prompt", None))
    over = msgspec.structs.replace(attached(), state="exited")

    assert odd(*_framed(over), both)


def test_frames_that_lie_about_their_fields_are_left() -> None:
    both = Both()
    both.begins()

    assert odd(first.COMMAND_ENDED, first.packed({"other": None}), both)
    with pytest.raises(NotOneOfThese):
        both.early._printed({"offset": "1", "data": b""})  # noqa: SLF001


@pytest.mark.parametrize(
    "output", [b"\x1b[1mbold\r\n", b"10%\r20%\r\n", "é\r\n".encode(), b"a\x07", b"\x7f"]
)
def test_i2_what_is_no_plain_text_is_left(output: bytes) -> None:
    both = Both()
    both.runs(output)

    assert both.early.is_over
    with pytest.raises(NotOneOfThese):
        both.early.result()


def test_an_end_without_a_status_is_left() -> None:
    both = Both()
    both.runs(b"built", status=None)

    with pytest.raises(NotOneOfThese):
        both.early.result()


def test_output_that_began_before_we_came_is_left() -> None:
    both = Both()
    both.begins()
    both.hear(Output(30, b"late"), TYPED, Signed(CLIENT, 1))
    both.hear(CommandEnded(command(end=34, status=0)))

    with pytest.raises(NotOneOfThese):
        both.early.result()


LINES = st.lists(st.text("abc %#\t~", max_size=5), max_size=5)


@given(LINES, st.sampled_from(["", "\r\n"]))
def test_i2_plain_text_is_printed_as_the_ordinary_way_prints_it(
    lines: list[str], end: str
) -> None:
    output = ("\r\n".join(lines) + end).encode()
    both = Both()
    both.runs(output)

    assert both.early.result()[0] == last_states(output)
    assert not hidden_in_output(output)


def _framed(message: Message) -> tuple[int, bytes]:
    ((kind, payload),) = first.frames_in(bytearray(encode(message)))
    return kind, payload
