"""Five operators, every route, one terminal: what went in is what the book says."""

import base64
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine
from tests.scenarios.typed import is_typed

from holdfast.core.book.logbook import Entry, EntryKind, recover, verify
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import RESIZES, InputKind
from holdfast.wire import messages as wire

ROUNDS = 25
"""Rounds of every client: each has all routes, and one move of the turn."""

WINCH = b"28"
"""A signal that `cat` does not mind."""

MOVED = {"not-your-turn", "stale-epoch", "turn-moved"}
"""What somebody without the turn is told; each names its holder and the epoch."""

TEXT = {InputKind.KEYS, InputKind.COMMAND}


@dataclass
class Account:
    """What one client was told of what it sent."""

    taken: dict[int, bytes] = field(default_factory=dict)
    refused: list[wire.Refuse] = field(default_factory=list)
    failed: BaseException | None = None


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


def routes(name: int, number: int) -> list[tuple[InputKind, bytes]]:
    mark = b"%d.%d" % (name, number)
    return [
        (InputKind.KEYS, b"k%s " % mark),
        (InputKind.KEYS, b"\x1b[200~p%s" % mark + b"p" * 3000 + b"\x1b[201~"),
        (InputKind.COMMAND, b"c%s\r" % mark),
        (InputKind.SIGNAL, WINCH),
        (InputKind.RESIZE, b"%dx%d" % (80 + name, 24 + number)),
    ]


def act(client: Client, name: int, others: list[Client], account: Account) -> None:
    try:
        for number in range(ROUNDS):
            sent = routes(name, number)
            posted = {client.post(one[1], one[0]): one for one in sent}
            while posted:
                answer = client.settle()
                note(answer, *posted.pop(answer.sequence), account)
            move(client, number, others[(name + number) % len(others)])
    except BaseException as error:  # noqa: BLE001  # told by whoever started us
        account.failed = error


def note(answer: object, kind: InputKind, payload: bytes, account: Account) -> None:
    match answer:
        case wire.Acknowledge(index=index):
            account.taken[index] = payload if kind in TEXT else b""
        case wire.Report(outcome=wire.Ending.CUT, index=index, written=written):
            account.taken[index] = payload[:written]
        case wire.Refuse():
            account.refused.append(answer)
        case _:
            assert isinstance(answer, wire.Report), answer


def move(client: Client, number: int, to: Client) -> None:
    match number % 4:
        case 0:
            client.request(wire.Take())
        case 1:
            client.request(wire.Give(to.operator.actor.id))
        case 2:
            client.request(wire.Seize(wire.Halt.NONE))
        case _:
            client.request(wire.Drop())


def is_too_often(answer: wire.Refuse) -> bool:
    """Whether a window's size came too soon: on a fast machine they do."""
    return answer.code == "budget-spent" and answer.facts["what"] == RESIZES


def entries(session: SessionId) -> tuple[Entry, ...]:
    return recover(places.session_log(session).read_bytes(), session).entries


def booked(session: SessionId) -> bytes:
    """Return what went into the terminal, by the book alone."""
    wanted = {kind.value for kind in TEXT}
    inputs: dict[object, bytes] = {}
    for entry in entries(session):
        if entry.kind is EntryKind.INPUT and entry.fields["input"] in wanted:
            inputs[entry.index] = base64.b64decode(str(entry.fields["data"]))
        if entry.kind is EntryKind.SETTLED and entry.fields["as"] != "applied":
            written = int(entry.fields.get("written") or 0)
            of = entry.fields["of"]
            inputs[of] = inputs.get(of, b"")[:written]
    return b"".join(inputs.values())


def crowd(here: Machine, session: SessionId) -> list[Client]:
    kinds = [ActorKind.HUMAN, ActorKind.AGENT, ActorKind.HUMAN, ActorKind.AGENT]
    run = os.urandom(3).hex()
    return [here.join(session)] + [
        here.join(session, f"one{number}-{run}", kind)
        for number, kind in enumerate(kinds)
    ]


def test_a3_a6_the_programs_input_is_what_was_acknowledged_in_the_books_order(
    here: Machine, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    session = here.new("sh", "-c", f"stty raw; echo ready; exec cat >{taken}")
    five = crowd(here, session)
    five[0].wait_output(b"ready")
    accounts = [Account() for _ in five]
    threads = [
        threading.Thread(target=act, args=(client, name, five, accounts[name]))
        for name, client in enumerate(five)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert [account.failed for account in accounts] == [None] * len(five)
    told: dict[int, bytes] = {}
    for account in accounts:
        assert not told.keys() & account.taken.keys(), "two were told one index"
        told |= account.taken
    expected = b"".join(told[index] for index in sorted(told))
    assert sum(bool(account.taken) for account in accounts) > 1
    eventually("all was read", lambda: len(taken.read_bytes()) >= len(expected))
    assert taken.read_bytes() == expected
    assert booked(session) == expected
    refused = [
        one for account in accounts for one in account.refused if not is_too_often(one)
    ]
    assert {one.code for one in refused} <= MOVED
    assert all({"holder", "epoch"} <= set(one.facts) for one in refused)
    assert_in_order(here, session, told)


def assert_in_order(here: Machine, session: SessionId, told: dict[int, bytes]) -> None:
    raw = places.session_log(session).read_bytes()  # Once: it may still grow.
    book = recover(raw, session).entries
    assert verify(raw.splitlines(), session).count == len(book)
    holder: object = None
    size = b"80x24"
    for entry in book:
        if entry.kind is EntryKind.TURN:
            assert entry.fields["from"] == holder
            holder = entry.fields["to"]
        if is_typed(entry):
            # I1 of core/input/intake.py, as anybody can read it in the book.
            assert entry.fields["actor"] == holder
            if entry.fields["input"] == "resize" and entry.index in told:
                size = base64.b64decode(str(entry.fields["data"]))
    columns, rows = size.split(b"x")
    eventually(
        "the size is the last that was taken",
        lambda: (here.facts(session) or {})["size"] == [int(columns), int(rows)],
    )
