import pytest
from tests.crypto.handshake_world import (
    DIALLED,
    HOST,
    INVITE_ID,
    OPERATOR,
    STRANGER,
    hold,
    joining,
    opening,
)

from holdfast.crypto.handshake import Accepting, Opening
from holdfast.crypto.identity import Role, statement
from holdfast.crypto.noise import IK, XXPSK3, HandshakeState, KeyPair
from holdfast.crypto.sealing import Outbound
from holdfast.model.errors import HandshakeFailed, WrongIdentity
from holdfast.model.ids import host_id
from holdfast.wire.channel import First, Purpose, RecordKind, prologue

BOTH = pytest.mark.parametrize("purpose", DIALLED)


@BOTH
def test_i1_both_sides_finish_with_the_others_identity(purpose: str) -> None:
    held = hold(DIALLED[purpose]())

    assert held.operator.peer == HOST.public
    assert held.operator.peer_static == HOST.static_public
    assert held.host.peer == OPERATOR.public
    assert held.host.peer_static == OPERATOR.static_public
    assert held.operator.binding == held.host.binding


@BOTH
def test_what_one_side_seals_the_other_opens(purpose: str) -> None:
    held = hold(DIALLED[purpose]())

    there = held.operator.outbound.seal(RecordKind.DATA, b"there")
    back = held.host.outbound.seal(RecordKind.DATA, b"back")

    assert held.host.inbound.open(there).data == b"there"
    assert held.operator.inbound.open(back).data == b"back"


def test_a_host_is_told_which_invitation_it_is_about() -> None:
    assert Accepting(HOST, joining().first(), bytes(32)).invite_id == INVITE_ID
    assert Accepting(HOST, opening().first(), bytes(32)).invite_id is None


@BOTH
def test_i4_t42_no_answer_is_longer_than_what_it_answers(purpose: str) -> None:
    first, reply, _ = hold(DIALLED[purpose]()).messages

    assert len(reply) <= len(first)


@BOTH
def test_t16_nothing_in_clear_names_the_operator(purpose: str) -> None:
    messages = hold(DIALLED[purpose]()).messages

    for message in messages:
        assert OPERATOR.public not in message
        assert OPERATOR.static_public not in message


def test_i2_t36_another_host_cannot_read_an_attach_at_all() -> None:
    first = opening().first()

    with pytest.raises(HandshakeFailed):
        Accepting(STRANGER, first, bytes(32))


def test_i2_t36_another_host_that_answers_a_join_is_refused_before_we_speak() -> None:
    dialled = joining()
    spoken = prologue(host_id(HOST.public), Purpose.JOIN, INVITE_ID)
    state = HandshakeState(
        XXPSK3, spoken, STRANGER.static, KeyPair(bytes(32)), is_initiator=False
    )
    state.read(First.from_bytes(dialled.first()).noise)
    reply = state.write(statement(STRANGER, Role.HOST, spoken))

    with pytest.raises(WrongIdentity, match=STRANGER.public.hex()):
        dialled.last(reply)


def test_t36_a_host_whose_two_keys_do_not_belong_together_is_refused() -> None:
    dialled = Opening(OPERATOR, HOST.public, STRANGER.static_public, bytes(range(32)))
    spoken = prologue(host_id(HOST.public), Purpose.ATTACH)
    state = HandshakeState(
        IK, spoken, STRANGER.static, KeyPair(bytes(32)), is_initiator=False
    )
    state.read(First.from_bytes(dialled.first()).noise)
    reply = state.write(statement(STRANGER, Role.HOST, spoken))

    with pytest.raises(WrongIdentity):
        dialled.last(reply)


def test_an_operator_that_claims_another_key_is_refused() -> None:
    spoken = prologue(host_id(HOST.public), Purpose.ATTACH)
    state = HandshakeState(
        IK,
        spoken,
        STRANGER.static,
        KeyPair(bytes(32)),
        remote_static=HOST.static_public,
        is_initiator=True,
    )
    claimed = statement(OPERATOR, Role.OPERATOR, spoken)
    first = First(Purpose.ATTACH, b"", state.write(claimed)).to_bytes()
    accepting = Accepting(HOST, first, bytes(range(32)))
    state.read(accepting.reply())
    confirm = Outbound(state.agree().sending).seal(RecordKind.CONFIRM)

    with pytest.raises(WrongIdentity):
        accepting.finish(confirm)


def test_a_first_message_of_a_join_is_filled_with_zeros() -> None:
    spoken = prologue(host_id(HOST.public), Purpose.JOIN, INVITE_ID)
    state = HandshakeState(
        XXPSK3, spoken, OPERATOR.static, KeyPair(bytes(32)), is_initiator=True
    )
    first = First(Purpose.JOIN, INVITE_ID, state.write(b"")).to_bytes()

    with pytest.raises(HandshakeFailed, match="zeros"):
        Accepting(HOST, first, bytes(range(32)))


@pytest.mark.parametrize("kind", [RecordKind.DATA, RecordKind.END])
def test_an_attach_is_confirmed_by_a_confirm_and_nothing_else(
    kind: RecordKind,
) -> None:
    spoken = prologue(host_id(HOST.public), Purpose.ATTACH)
    state = HandshakeState(
        IK,
        spoken,
        OPERATOR.static,
        KeyPair(bytes(32)),
        remote_static=HOST.static_public,
        is_initiator=True,
    )
    said = state.write(statement(OPERATOR, Role.OPERATOR, spoken))
    first = First(Purpose.ATTACH, b"", said).to_bytes()
    accepting = Accepting(HOST, first, bytes(range(32)))
    state.read(accepting.reply())
    data = b"x" if kind is RecordKind.DATA else b""
    last = Outbound(state.agree().sending).seal(kind, data)

    with pytest.raises(HandshakeFailed, match="CONFIRM"):
        accepting.finish(last)
