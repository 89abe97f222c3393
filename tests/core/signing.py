"""A book as a host writes it, honest or not, and what operators sign of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.core.book.entries import Admission, input_fields
from holdfast.core.book.logbook import Entry, EntryKind, Logbook, genesis, read_entries
from holdfast.core.input.input_chain import InputChain, Statement
from holdfast.core.input.signed_inputs import Coverage, InputCheck
from holdfast.crypto.keys import SigningKey
from holdfast.model.actors import ActorKind
from holdfast.model.ids import (
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    SessionId,
    actor_id,
)
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.lines import Value
from holdfast.wire.messages import Submit

if TYPE_CHECKING:
    from holdfast.core.input.commitments import Signs

SESSION = SessionId("s_" + "a" * 16)
KEY = SigningKey.from_seed(bytes(range(32)))
BOT_KEY = SigningKey.from_seed(bytes(range(1, 33)))
ANNA, BOT = actor_id(KEY.public), actor_id(BOT_KEY.public)
CLIENT, OTHER_CLIENT = ClientId("c_" + "a" * 16), ClientId("c_" + "b" * 16)
SECRET = b"known to the client alone"
LIFE, EPOCH = Incarnation(1), Epoch(3)
Fields = dict[str, Value]


def given(
    sequence: int,
    payload: bytes = b"make\r",
    *,
    client: ClientId = CLIENT,
    kind: InputKind = InputKind.COMMAND,
    epoch: Epoch = EPOCH,
) -> Submit:
    """Return an input that a client makes."""
    return Submit(
        client=client,
        sequence=sequence,
        kind=kind,
        incarnation=LIFE,
        epoch=epoch,
        payload=payload,
        seen=None,
        waits=True,
    )


def chain(client: ClientId = CLIENT) -> InputChain:
    """Return the chain of a client that has sent nothing."""
    return InputChain(SESSION, client, SECRET)


def signed(*made: Submit, by: "Signs" = KEY, actor: ActorId = ANNA) -> Statement:
    """Return the first statement of a client, about all these inputs."""
    ours = chain(made[0].client)
    for one in made:
        ours.note(one)
    statement = ours.sign(by, actor, made[-1].sequence)
    assert statement is not None
    return statement


@dataclass
class Book:
    """A logbook, and the lines that are written into it."""

    book: Logbook = field(default_factory=lambda: Logbook(genesis(SESSION)))
    lines: list[bytes] = field(default_factory=list)
    read: list[Entry] = field(default_factory=list)

    def write(self, kind: EntryKind, fields: Fields, epoch: Epoch = EPOCH) -> None:
        """Write an entry."""
        entry = self.book.draft(kind, fields, LIFE, epoch, 0)
        self.book.commit(entry)
        self.lines.append(entry.line)
        after = self.read[-1] if self.read else None
        self.read += read_entries([entry.line], SESSION, after)

    def admit(
        self,
        one: Submit,
        actor: ActorId = ANNA,
        *,
        hidden: bool = False,
        epoch: Epoch = EPOCH,
    ) -> None:
        """Write an input, with its payload or without."""
        secret = b"of the holder" if hidden else None
        fields = input_fields(
            one.to_input(actor),
            ActorKind.HUMAN,
            Admission(Verdict.ALLOW, "rule"),
            secret,
        )
        self.write(EntryKind.INPUT, fields, epoch)

    def keep(self, *statements: Statement | None) -> None:
        """Write statements, whatever they say."""
        for statement in statements:
            assert statement is not None
            self.write(EntryKind.SIGNED, statement.to_fields())

    def entries(self) -> list[Entry]:
        """Return its entries as they are read."""
        return self.read

    def check(self) -> Coverage:
        """Return what is signed."""
        return coverage_of(self.entries(), SESSION)


def coverage_of(entries: Iterable[Entry], session: SessionId) -> Coverage:
    """Return what is signed of a book."""
    check = InputCheck(session)
    for entry in entries:
        check.read(entry)
    return check.coverage()
