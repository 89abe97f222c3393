import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import LineTooLong, MalformedArgument
from holdfast.model.ids import Epoch, Incarnation, actor_id, client_id
from holdfast.model.inputs import MAX_INPUT, Input, InputId, InputKind, shell_line

kinds = st.sampled_from(InputKind)
payloads = st.binary(max_size=20) | st.sampled_from(
    [kind.encode() for kind in InputKind]
)


def an_input(
    kind: InputKind, payload: bytes, *, epoch: int = 1, by: bytes = b""
) -> Input:
    return Input(
        InputId(client_id(bytes(10)), 1),
        actor_id(by),
        kind,
        Incarnation(1),
        Epoch(epoch),
        payload,
    )


@given(kinds, payloads, kinds, payloads)
def test_a_digest_is_of_one_kind_and_one_payload(
    kind: InputKind, payload: bytes, other_kind: InputKind, other_payload: bytes
) -> None:
    one = an_input(kind, payload).digest()
    other = an_input(other_kind, other_payload).digest()

    assert (one == other) == ((kind, payload) == (other_kind, other_payload))


@given(kinds, kinds, payloads)
def test_no_byte_moves_from_the_kind_to_the_payload(
    kind: InputKind, other: InputKind, payload: bytes
) -> None:
    joined = an_input(kind, other.encode() + b"\0" + payload).digest()

    assert joined != an_input(other, payload).digest()
    assert joined != an_input(kind, payload).digest()


def test_a_digest_does_not_depend_on_who_sent_it_or_when() -> None:
    one = an_input(InputKind.KEYS, b"ls\r", epoch=1, by=b"ada")
    other = an_input(InputKind.KEYS, b"ls\r", epoch=2, by=b"bob")

    assert one.digest() == other.digest()


def test_no_kind_holds_the_byte_that_ends_it_in_a_digest() -> None:
    assert not any("\0" in kind for kind in InputKind)


def test_a_digest_is_what_the_specification_says() -> None:
    digest = an_input(InputKind.KEYS, b"ls\r").digest()

    assert digest.hex() == (
        "6954a742b56ede7973c9126cb66942327331317448cf704eeeba6579fe3451f1"
    )


def test_a_command_is_one_line_as_it_was_written() -> None:
    assert shell_line("ls caf\u00e9 \udcff") == b"ls caf\xc3\xa9 \xff"


@pytest.mark.parametrize("text", ["", " ", "a\nb", "a\tb", "\x1b[A", "\x7f"])
def test_what_is_not_one_line_is_no_command(text: str) -> None:
    with pytest.raises(MalformedArgument, match="one line for a shell"):
        shell_line(text)


def test_a_command_leaves_room_for_its_enter() -> None:
    assert shell_line("x" * (MAX_INPUT - 1))
    with pytest.raises(LineTooLong):
        shell_line("x" * MAX_INPUT)
