"""Requests of operators, carried to a real handler."""

import contextlib
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.input_world import Client, World, world

from holdfast.core.book.logbook import EntryKind
from holdfast.model.actors import ActorKind
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message


class Here:
    """A handler, and what carries requests to it."""

    def __init__(self, made: World) -> None:
        self.world = made
        self.session = made.session
        self.intake = made.intake
        self.requests = made.requests

    def join(self, name: str = "", kind: ActorKind = ActorKind.HUMAN) -> Client:
        """Let an operator in, and forget what it was told at the door."""
        client = self.world.join(name, kind)
        for one in self.world.clients:
            one.told()
        return client

    def ask(self, client: Client, message: Message) -> list[Message]:
        """Have a client ask for something; return what it is told."""
        assert self.requests.take(client.connection, message)
        return client.told()

    def fields(self, kind: EntryKind) -> list[dict[str, object]]:
        """Return what stands in the book about one kind of event."""
        return [
            dict(entry.fields) for entry in self.world.entries() if entry.kind is kind
        ]


@contextlib.contextmanager
def requested(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Here]:
    """Yield a handler with a raw terminal, whose folders are below this one."""
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(folder / name.lower()))
    with world() as made:
        tty.setraw(made.slave)
        yield Here(made)


def refusals(said: list[Message]) -> list[tuple[str, int]]:
    """Return what was refused, and which kind of request it was."""
    return [(one.code, one.refused) for one in said if isinstance(one, wire.Refuse)]
