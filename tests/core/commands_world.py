"""A shell for the tests of `commands`, and the book that is written of it."""

import base64
from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.provenance.commands import (
    NEVER,
    Begin,
    Command,
    Commands,
    Effect,
    Entered,
    Event,
    Finish,
    Marked,
    Resumed,
    began_fields,
    finished_fields,
)
from holdfast.core.provenance.staged import StagedLine
from holdfast.model.ids import (
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    Index,
    actor_id,
)
from holdfast.model.moments import Moment
from holdfast.term.marks import Began, Ended, Prompted
from holdfast.wire.lines import Value

ANNA, BERT = ClientId("c_" + "a" * 16), ClientId("c_" + "b" * 16)
HER, HIM = actor_id(b"\1" * 32), actor_id(b"\2" * 32)
LS = Began("ls", 2)
UNKNOWN = Began("", 0)


def at(seconds: float) -> Moment:
    return Moment(seconds, 1_000_000 + seconds)


def told(machine: Commands, *events: Event) -> list[Effect]:
    effects: list[Effect] = []
    for now, event in enumerate(events):
        effects += machine.handle(event, at(now))
    return effects


def entered(
    data: bytes, client: ClientId | None, offset: int, actor: ActorId = HER
) -> Entered:
    lines = StagedLine().typed(actor, data, echo_off=False)
    return Entered(data, client, offset, actor, tuple(lines))


def bare(command: Command | None) -> Command | None:
    if command is None:
        return None
    return replace(
        command,
        trigger=None,
        authors=(),
        since=NEVER,
        until=None,
        hands=(),
        shared_ms=0,
    )


def plain(effects: list[Effect]) -> list[tuple[type, Command | None]]:
    return [(type(effect), bare(effect.command)) for effect in effects]


def prompted() -> Commands:
    machine = Commands()
    told(machine, Marked(Ended(0, "/"), 0), Marked(Prompted(), 0))
    return machine


def entry(kind: EntryKind, fields: dict[str, Value], seconds: float = 0) -> Entry:
    wall = round((1_000_000 + seconds) * 1000)
    return Entry(
        Index(0), b"", b"", kind, Incarnation(1), Epoch(1), wall, fields=fields
    )


def typed(
    client: ClientId, line: bytes, kind: str = "command", actor: ActorId = HER
) -> Entry:
    fields: dict[str, Value] = {"input": kind, "client": client, "actor": actor}
    fields |= {"size": len(line), "data": base64.b64encode(line).decode()}
    return entry(EntryKind.INPUT, fields)


def recorded(effects: list[Effect]) -> Iterator[Entry]:
    for effect in effects:
        match effect:
            case Begin(command):
                yield entry(EntryKind.BEGAN, began_fields(command))
            case Finish(command):
                yield entry(EntryKind.FINISHED, finished_fields(command))


events = st.one_of(
    st.builds(
        entered,
        st.sampled_from((b"ls\r", b"x", b"\x03", b"make\r")),
        st.sampled_from((None, ANNA, BERT)),
        st.just(0),
        st.sampled_from((HER, HIM)),
    ),
    st.builds(
        Marked,
        st.sampled_from((LS, UNKNOWN, Began("make", 4), Prompted(), Ended(1, "/x"))),
        st.just(0),
    ),
    st.builds(Resumed, st.booleans(), st.just(0)),
)


def placed(event: Event, offset: int) -> Event:
    match event:
        case Entered():
            return replace(event, offset=offset)
        case Marked(mark):
            return Marked(mark, offset)
        case Resumed(at_prompt):
            return Resumed(at_prompt, offset)


def lived(happened: list[Event]) -> tuple[Commands, list[Entry]]:
    """Let it happen, and write it down as a holder does."""
    machine, book = Commands(), []
    for number, event in enumerate(happened):
        if isinstance(event, Entered):
            kind = "keys" if event.client is None else "command"
            client = event.client or ClientId("")
            book.append(typed(client, event.data, kind, event.actor))
        effects = machine.handle(placed(event, 10 * number), at(number))
        book += recorded(effects)
    return machine, book
