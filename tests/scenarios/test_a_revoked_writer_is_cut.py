"""An operator loses its rights in the midst of writing: not a byte comes after."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.core.receipts import receipt_in, signature_check
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine
from tests.scenarios.typed import is_typed

from holdfast.client import current_operator
from holdfast.core.book.logbook import Entry, EntryKind, Receipt, recover, verify
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import operators, places
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties

LARGE = bytes(range(32, 127)) * 650
"""More than a terminal takes that nobody reads, and still one input."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


def full_terminal(here: Machine, folder: Path) -> tuple[SessionId, Path, Path]:
    """Start a program that reads nothing before it is told to; return its files."""
    go, taken = folder / "go", folder / "taken"
    os.mkfifo(go)
    taken.touch()
    program = f"stty raw -echo; echo ready; cat {go}; exec cat >{taken}"
    return here.new("sh", "-c", program), go, taken


def half_written(bot: Client, session: SessionId) -> None:
    """Wait until the terminal has taken what it takes of the bot's input."""
    bot.post(LARGE)
    eventually("it is in the book", lambda: inputs(session))
    # Whatever the holder hears after this, it has tried to write before.
    for _ in range(20):
        bot.who()


def inputs(session: SessionId) -> list[Entry]:
    return [one for one in entries(session) if is_typed(one)]


def entries(session: SessionId) -> tuple[Entry, ...]:
    return recover(places.session_log(session).read_bytes(), session).entries


@pytest.mark.parametrize("how", ["revoke", "seize", "freeze"])
def test_t17_t18_a_half_written_input_is_cut_and_what_went_in_is_told(
    here: Machine, tmp_path: Path, how: str
) -> None:
    session, go, taken = full_terminal(here, tmp_path)
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    half_written(bot, session)
    bot.post(b"never")

    assert anna.request(act(how, bot)) is None

    report = bot.wait(wire.Report)
    assert report.outcome is wire.Ending.CUT
    assert 0 < report.written < len(LARGE)
    if how == "freeze":
        anna.request(wire.Thaw())
        anna.request(wire.Seize(wire.Halt.NONE))
    go.write_bytes(b"go")
    anna.who()
    assert isinstance(anna.enter(b"<anna>"), wire.Acknowledge)
    eventually("she is heard", lambda: b"<anna>" in taken.read_bytes())
    assert taken.read_bytes() == LARGE[: report.written] + b"<anna>"
    settled = [one for one in entries(session) if one.fields.get("as") == "cut"]
    assert [one.fields["written"] for one in settled] == [report.written]


def test_who_seizes_is_told_of_the_half_that_stands_typed(
    here: Machine, tmp_path: Path
) -> None:
    session, _, _ = full_terminal(here, tmp_path)
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    half_written(bot, session)

    assert anna.request(wire.Seize(wire.Halt.NONE)) is None

    # The terminal does not echo, so who typed it is told, and not what.
    assert anna.wait(parties.Inherited).by == (bot.operator.actor.id,)


def act(how: str, bot: Client) -> parties.Revoke | wire.Seize | wire.Freeze:
    match how:
        case "revoke":
            return parties.Revoke(bot.operator.actor.id)
        case "seize":
            return wire.Seize(wire.Halt.NONE)
        case _:
            return wire.Freeze()


def test_t17_what_a_revoked_operator_had_sent_and_nobody_had_read_is_refused(
    here: Machine, tmp_path: Path
) -> None:
    session, go, taken = full_terminal(here, tmp_path)
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    half_written(bot, session)
    for number in range(50):
        bot.post(b"queued-%d" % number)

    anna.send(parties.Revoke(bot.operator.actor.id))

    bot.wait(wire.Goodbye)
    revoked = next(one for one in entries(session) if one.kind is EntryKind.REVOKED)
    assert not [one for one in inputs(session) if one.index > revoked.index]
    turn = [one for one in entries(session) if one.kind is EntryKind.TURN][-1]
    assert (turn.fields["reason"], turn.fields["to"]) == ("revoked", None)
    assert int(turn.fields["dropped_inputs"] or 0) >= 1
    go.write_bytes(b"go")
    anna.who()
    anna.enter(b"<anna>")
    eventually("she is heard", lambda: b"<anna>" in taken.read_bytes())
    assert b"queued" not in taken.read_bytes()


def test_t68_a_revoke_counts_from_an_index_on_and_what_came_before_still_verifies(
    here: Machine,
) -> None:
    session = here.new("sh", "-c", "stty raw -echo; echo ready; exec cat")
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna = here.join(session)
    anna.wait_output(b"ready")
    receipts = [receipt_of(bot, b"one\r"), receipt_of(bot, b"two\r")]

    anna.request(parties.Revoke(bot.operator.actor.id))

    refused = bot.greet()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "not-allowed"
    revoked = next(one for one in entries(session) if one.kind is EntryKind.REVOKED)
    assert max(receipt.head.index for receipt in receipts) < revoked.index
    key = signature_check(SigningKey.from_seed(host_seed()).public)
    raw = places.session_log(session).read_bytes()
    assert verify(raw.splitlines(), session, receipts, key).count


def test_t68_a_key_that_was_forgotten_and_made_anew_is_somebody_else(
    here: Machine,
) -> None:
    session = here.new("cat")
    anna = here.join(session)
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna.request(parties.Revoke(bot.operator.actor.id))

    operators.forget("bot")
    renewed = current_operator.enrol("bot", ActorKind.AGENT)

    assert renewed.actor.id != bot.operator.actor.id
    bot.operator = Enrolled(bot.operator.actor, bot.operator.public_key, renewed.folder)
    refused = bot.greet()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "unknown-operator"


def receipt_of(client: Client, text: bytes) -> Receipt:
    client.post(text, InputKind.COMMAND)
    answer = client.settle()
    assert isinstance(answer, wire.Acknowledge)
    receipt = receipt_in(answer, client.session, FIRST_INCARNATION)
    assert receipt is not None, "a command always has one"
    return receipt
