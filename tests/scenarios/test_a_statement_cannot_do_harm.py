"""Whatever is signed, by whom and when a holder dies, the book holds together."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.signing import coverage_of
from tests.scenarios.attached_link import attach, leave
from tests.scenarios.support import LIFE, Client, Machine, machine

from holdfast.client.calls import submit
from holdfast.client.current_operator import our_pen, ourselves
from holdfast.client.driver import attachment_to
from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.core.input.input_chain import HIDDEN, InputChain, Statement
from holdfast.core.input.serializer import MAX_CLIENTS
from holdfast.core.input.signed_inputs import Coverage
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import folders, places
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.ids import ENTROPY, SessionId, client_id
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire.frames import MAX_PAYLOAD, FrameKind, frame_bytes
from holdfast.wire.signatures import MAX_SIGNED, STEP, Sign, Signed

PROGRAM = ("sh", "-c", "stty raw; exec cat")


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def entries(session: SessionId) -> tuple[Entry, ...]:
    return recover(places.session_log(session).read_bytes(), session).entries


def coverage(session: SessionId) -> Coverage:
    return coverage_of(entries(session), session)


def statements(session: SessionId) -> list[Statement]:
    found = [one for one in entries(session) if one.kind is EntryKind.SIGNED]
    return [Statement.from_entry(one) for one in found]


def key_of(operator: Enrolled) -> SigningKey:
    return SigningKey.from_seed(operator.seed())


class Signer:
    """A client that says what it likes about what it sent."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.chain = InputChain(client.session, client.client, b"secret")
        self.sequence = 0

    def type(self, text: bytes, said: bytes | None = None) -> None:
        """Type something, and note that or something else."""
        self.sequence += 1
        self.chain.note(
            wire.Submit(
                client=self.client.client,
                sequence=self.sequence,
                kind=InputKind.KEYS,
                incarnation=LIFE,
                epoch=self.client.epoch,
                payload=text if said is None else said,
                seen=None,
                waits=True,
            )
        )
        self.client.post(text)
        assert isinstance(self.client.settle(), wire.Acknowledge)

    def statement(self) -> Sign:
        us = self.client.operator
        made = self.chain.sign(key_of(us), us.actor.id, self.sequence)
        assert made is not None
        return made.to_message()

    def hand_over(self, said: Sign) -> Signed | wire.Refuse:
        self.client.send(said)
        answer = self.client.wait(Signed, wire.Refuse)
        assert isinstance(answer, (Signed, wire.Refuse))
        return answer


def code_of(answer: Signed | wire.Refuse) -> str:
    assert isinstance(answer, wire.Refuse), answer
    return answer.code


def test_what_was_signed_is_kept_once_and_said_to_be(here: Machine) -> None:
    session = here.new(*PROGRAM)
    signer = Signer(here.join(session))
    signer.type(b"one")
    said = signer.statement()

    answers = [signer.hand_over(said), signer.hand_over(said)]

    assert answers == [Signed(signer.client.client, 1)] * 2
    assert len(statements(session)) == 1
    assert coverage(session).unsigned == ()


def test_t35_nobody_signs_for_somebody_else(here: Machine) -> None:
    session = here.new(*PROGRAM)
    victim = Signer(here.join(session))
    victim.type(b"one")
    said = victim.statement()
    thief = here.join(session, "mallory")

    thief.send(said)  # To the holder, of a client of the thief's that sent nothing.
    assert thief.wait(wire.Refuse).code == "statement-refused"
    thief.client = victim.client.client
    thief.attach()
    assert thief.request(said) is not None

    assert isinstance(victim.hand_over(said), Signed)
    assert coverage(session) == Coverage(signed=1)


def test_t35_what_was_not_sent_yet_cannot_be_signed(here: Machine) -> None:
    session = here.new(*PROGRAM)
    signer = Signer(here.join(session))
    signer.type(b"one")
    signer.chain.note(
        wire.Submit(
            client=signer.client.client,
            sequence=2,
            kind=InputKind.KEYS,
            incarnation=LIFE,
            epoch=signer.client.epoch,
            payload=b"later",
            seen=None,
            waits=True,
        )
    )
    signer.sequence = 2

    assert code_of(signer.hand_over(signer.statement())) == "statement-refused"
    assert statements(session) == []


def test_t35_an_operator_cannot_make_the_book_look_forged(here: Machine) -> None:
    session = here.new("cat")
    signer = Signer(here.join(session))
    signer.type(b"the truth", said=b"a lie")

    assert code_of(signer.hand_over(signer.statement())) == "statement-refused"
    assert len(coverage(session).unsigned) == 1


def test_a_statement_that_is_too_large_ends_the_link_and_nothing_else(
    here: Machine,
) -> None:
    session = here.new(*PROGRAM)
    signer = Signer(here.join(session))
    signer.type(b"one")
    said = signer.statement()
    hostile = here.join(session, "mallory")
    hostile._link.sendall(  # noqa: SLF001  # no message can be written so large
        frame_bytes(FrameKind.SIGN, bytes(MAX_PAYLOAD))
    )

    assert hostile.wait(wire.Goodbye).code == "malformed-message"
    odd = Sign(
        client=said.client,
        last=1,
        steps=bytes(STEP * MAX_SIGNED),
        key=said.key,
        rotations=b"",
        signature=said.signature,
    )
    assert code_of(signer.hand_over(odd)) == "statement-refused"
    assert isinstance(signer.hand_over(said), Signed)


def test_a_flood_of_statements_does_not_fill_the_disk(here: Machine) -> None:
    session = here.new(*PROGRAM)
    signer = Signer(here.join(session))
    signer.type(b"one")
    said = signer.statement()
    signer.hand_over(said)
    before = places.session_log(session).stat().st_size
    ahead = Sign(
        client=said.client,
        last=2,
        steps=said.steps,
        key=said.key,
        rotations=b"",
        signature=said.signature,
    )

    codes = {code_of(signer.hand_over(ahead)) for _ in range(500)}

    assert codes == {"statement-refused"}
    assert len(statements(session)) == 1
    assert places.session_log(session).stat().st_size - before < 8 * 1024


def test_t35_the_salt_of_what_was_hidden_is_nowhere_in_the_book(here: Machine) -> None:
    session = here.new("sh", "-c", "stty -echo; echo ready; read x; exec cat")
    here.join(session).wait_output(b"ready")
    attachment = attachment_to(session)
    submit(attachment, InputKind.KEYS, b"hunter2\r", 10)

    (made,) = statements(session)

    assert made.steps[0].salt == HIDDEN
    assert coverage(session) == Coverage(hidden=1)


def test_whoever_has_no_key_here_signs_nothing(here: Machine) -> None:
    session = here.new("cat")
    us = ourselves()
    submit(attachment_to(session), InputKind.KEYS, b"signed", 10)
    key = Path(folders.operators_folder()) / us.actor.name / "key"
    key.rename(key.with_name("elsewhere"))

    submit(attachment_to(session), InputKind.KEYS, b"not signed", 10)

    (unsigned,) = coverage(session).unsigned
    assert coverage(session).signed == 1
    assert entries(session)[unsigned].fields["size"] == len(b"not signed")


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_holder_that_dies_before_it_has_a_statement_is_told_by_its_successor(
    here: Machine, *, is_sent: bool
) -> None:
    session = here.new("cat")
    attachment, pen = attachment_to(session), our_pen(session)
    link, _ = attach(attachment)
    link.send(attachment.submit(InputKind.KEYS, b"before"))
    while attachment.open:
        message = link.receive(10)
        assert message is not None
        attachment.heard(message)
        attachment.answered(message)
    if is_sent:
        said = attachment.signing.sign(pen)
        assert said is not None
        link.send(said)
    here.replace_holder(session)
    link.close()

    link, _ = attach(attachment)
    with link:
        link.send(attachment.submit(InputKind.KEYS, b"after"))
        leave(link, attachment, pen)

    assert attachment.signing.is_done
    assert coverage(session) == Coverage(signed=2)
    assert sum(len(one.steps) for one in statements(session)) == 2


def test_whoever_sat_by_while_many_came_and_went_still_signs(here: Machine) -> None:
    session = here.new(*PROGRAM)
    patient = Signer(here.join(session))
    patient.type(b"first")
    patient.hand_over(patient.statement())
    patient.client.request(wire.Drop())
    crowd = Client(session, here.join(session, "mallory").operator)
    here.clients.append(crowd)
    crowd.epoch = crowd.who().epoch
    for _ in range(MAX_CLIENTS + 2):
        crowd.enter(b".")
        crowd.client = client_id(os.urandom(ENTROPY))
        crowd.number = 0  # another client of the same operator
        crowd.attach()
    crowd.request(wire.Drop())
    patient.client.epoch = patient.client.who().epoch

    patient.type(b"second")

    assert isinstance(patient.hand_over(patient.statement()), Signed)
    assert coverage(session).signed == 2
