import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import local_flags
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine
from tests.scenarios.typed import is_typed

from holdfast.core.book.logbook import EntryKind, recover, verify
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedPolicy
from holdfast.model.ids import Epoch, SessionId
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.trials import Tried, Try

POLICY = """
[default]
agent = "allow"

[[rule]]
name = "no-deletes"
kind = "agent"
first = "rm"
verdict = "deny"
why = "agents remove nothing"

[[rule]]
name = "ask-before-push"
kind = "agent"
sequence = "git push"
verdict = "ask"
"""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def write_policy(text: str) -> None:
    apply_policy(text)


def shell(here: Machine) -> tuple[SessionId, Client, Client]:
    session = here.new("bash", "--norc", "-i")
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna = here.join(session)
    return session, bot, anna


def command(client: Client, text: bytes) -> object:
    client.post(text, InputKind.COMMAND)
    return client.settle()


def test_an_empty_policy_denies_agents_and_allows_humans(here: Machine) -> None:
    _, bot, anna = shell(here)

    refused = command(bot, b"echo bot\r")

    assert isinstance(refused, wire.Refuse)
    assert refused.code == "denied-by-policy"
    bot.request(wire.Drop())
    anna.who()
    assert isinstance(command(anna, b"echo anna\r"), wire.Acknowledge)


def test_a_rule_denies_before_the_first_byte_and_is_named(here: Machine) -> None:
    write_policy(POLICY)
    _, bot, anna = shell(here)

    refused = command(bot, b"rm -rf precious\r")

    assert isinstance(refused, wire.Refuse)
    assert (refused.code, refused.facts["rule"]) == ("denied-by-policy", "no-deletes")
    assert isinstance(command(bot, b"echo fine\r"), wire.Acknowledge)
    anna.wait_output(b"\rfine\r\n")
    assert b"precious" not in anna.output


def test_what_must_be_asked_waits_for_somebody_else(here: Machine) -> None:
    write_policy(POLICY)
    _, bot, anna = shell(here)
    bot.post(b"git push\r", InputKind.COMMAND)

    pending = anna.wait(wire.Pending)

    assert (pending.excerpt, pending.rule) == (b"git push\r", "ask-before-push")
    own = bot.request(wire.Approve(pending.ticket, pending.epoch, pending.digest))
    assert own is not None
    assert own.code in {"not-allowed", "self-approval"}
    other = anna.request(wire.Approve(pending.ticket, pending.epoch, b"x" * 32))
    assert other is not None
    assert other.code == "approval-mismatch"
    late = Epoch(pending.epoch + 1)
    moved = anna.request(wire.Approve(pending.ticket, late, pending.digest))
    assert moved is not None
    assert (
        anna.request(wire.Approve(pending.ticket, pending.epoch, pending.digest))
        is None
    )
    assert isinstance(bot.settle(), wire.Acknowledge)
    settled = anna.wait(wire.Settled)
    assert (settled.verdict, settled.by) == (Verdict.ALLOW, anna.operator.actor.id)


def test_a_denied_request_writes_nothing(here: Machine) -> None:
    write_policy(POLICY)
    _, bot, anna = shell(here)
    bot.post(b"git push\r", InputKind.COMMAND)
    pending = anna.wait(wire.Pending)

    assert anna.request(wire.Deny(pending.ticket, pending.digest)) is None

    refused = bot.settle()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "denied-by-operator"
    assert anna.who().pending == ()


def test_t30_what_waits_dies_with_the_turn(here: Machine) -> None:
    write_policy(POLICY)
    _, bot, anna = shell(here)
    bot.post(b"git push\r", InputKind.COMMAND)
    pending = anna.wait(wire.Pending)

    anna.request(wire.Seize(wire.Halt.NONE))

    late = anna.request(wire.Approve(pending.ticket, pending.epoch, pending.digest))
    assert late is not None
    assert late.code == "nothing-pending"
    refused = bot.settle()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "turn-moved"


def test_a_broken_policy_leaves_the_old_one_in_force(here: Machine) -> None:
    write_policy(POLICY)
    _, bot, _ = shell(here)
    command(bot, b"true\r")
    with pytest.raises(MalformedPolicy):
        write_policy("[[rule]\nverdict = maybe")

    refused = command(bot, b"rm x\r")

    assert isinstance(refused, wire.Refuse)
    assert refused.facts["rule"] == "no-deletes"
    assert f"{places.policy_file()}: line 1: it is not TOML" in refused.text


def test_a_changed_policy_counts_from_the_next_input_on(here: Machine) -> None:
    write_policy(POLICY)
    _, bot, _ = shell(here)
    assert isinstance(command(bot, b"rm x\r"), wire.Refuse)

    write_policy('[default]\nagent = "allow"\n')

    assert isinstance(command(bot, b"rm x\r"), wire.Acknowledge)


def test_what_would_happen_can_be_asked_without_doing_it(here: Machine) -> None:
    write_policy(POLICY)
    _, bot, anna = shell(here)

    anna.send(Try(bot.operator.actor.id, InputKind.COMMAND, b"rm x\r", None))

    tried = anna.wait(Tried)
    assert (tried.verdict, tried.rule) == (Verdict.DENY, "no-deletes")
    assert tried.why == "agents remove nothing"
    assert b"rm" not in anna.output


def test_a6_every_act_is_on_record_with_who_what_and_why(here: Machine) -> None:
    write_policy(POLICY)
    session, bot, anna = shell(here)
    command(bot, b"echo ok\r")
    command(bot, b"rm x\r")
    anna.request(wire.Seize(wire.Halt.NONE))
    anna.enter(b"true\r")

    raw = places.session_log(session).read_bytes()
    entries = recover(raw, session).entries

    assert verify(raw.splitlines(), session).count == len(entries)
    assert [entry.index for entry in entries] == list(range(len(entries)))
    said = [
        (entry.kind, entry.fields.get("actor"), entry.fields.get("rule"))
        for entry in entries
        if is_typed(entry) or entry.kind is EntryKind.REFUSED
    ]
    theirs, ours = bot.operator.actor.id, anna.operator.actor.id
    assert said == [
        (EntryKind.INPUT, theirs, "default-agent"),
        (EntryKind.REFUSED, theirs, "no-deletes"),
        (EntryKind.INPUT, ours, "default-human"),
    ]
    turns = [entry.fields for entry in entries if entry.kind is EntryKind.TURN]
    assert [(turn["from"], turn["to"], turn["reason"]) for turn in turns] == [
        (None, theirs, "taken"),
        (theirs, ours, "seized"),
    ]


def test_t67_what_is_typed_without_echo_is_on_no_record(
    here: Machine, tmp_path: Path
) -> None:
    session, _, anna = shell(here)
    got = tmp_path / "got"
    anna.enter(f"read -rs x; printf %s $x >{got}\r".encode())
    eventually("no echo", lambda: not local_flags(here, session) & termios.ECHO)

    anna.enter(b"hunter2-secret\r")

    eventually("read", lambda: got.exists() and got.read_bytes() == b"hunter2-secret")
    for path in (*places.session_dir().iterdir(), *places.log_dir().iterdir()):
        if path.is_file():
            assert b"hunter2" not in path.read_bytes()
            assert b"aHVudGVyMi" not in path.read_bytes()
