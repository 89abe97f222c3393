"""An agent sets things up, a human enters them: shown, held, and on record."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell, wait_phase
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.client import calls
from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties
from holdfast.wire.blame import Stretch
from holdfast.wire.trials import Tried, Try

POLICY = """
[default]
agent = "allow"

[undecidable]
human = "pass"

[[rule]]
name = "set-up-by-agents"
verdict = "ask"
why = "an agent has set up what this line runs"
kind = "human"
originator_kind = "agent"
staged = ["line", "alias", "function", "variable", "path-entry"]
"""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy(POLICY)
        yield made


@pytest.fixture
def session(here: Machine, tmp_path: Path) -> SessionId:
    return shell(here, tmp_path)


def agent(here: Machine, session: SessionId) -> Client:
    return here.join(session, f"bot-{os.urandom(3).hex()}", ActorKind.AGENT)


def does(client: Client, line: bytes, number: int) -> None:
    """Have somebody enter a line, and wait until the shell is done with it."""
    client.post(line + b"\r")
    heard = client.wait(wire.Acknowledge, wire.Refuse, wire.Pending)
    assert isinstance(heard, wire.Acknowledge), heard
    ended = eventually(
        f"command {number}",
        lambda: book(client.session, EntryKind.FINISHED, number),
    )
    assert ended
    wait_phase(client.session, "prompt")


def drops(client: Client, other: Client) -> None:
    """Have somebody drop the turn, and somebody else know it."""
    assert client.request(wire.Drop()) is None
    assert not other.who().holder


def book(session: SessionId, kind: EntryKind, number: int | None = None) -> list[Entry]:
    raw = places.session_log(session).read_bytes()
    return [
        one
        for one in recover(raw, session).entries
        if one.kind is kind and number in (None, one.fields.get("number"))
    ]


def uses(pending: wire.Pending | Tried) -> set[tuple[str, str]]:
    return {(one.what, one.name) for one in pending.uses}


def set_up(here: Machine, session: SessionId, home: Path) -> tuple[Client, Client]:
    """Have an agent stage three things and drop the turn; return it and a human."""
    (home / "evil").mkdir()
    bot, anna = agent(here, session), here.join(session)
    does(bot, b"alias deploy='rm -rf build'", 1)
    does(bot, f"PATH={home}/evil:$PATH".encode(), 2)
    assert isinstance(bot.enter(b"rm -rf /"), wire.Acknowledge)
    drops(bot, anna)
    return bot, anna


def test_c109_whoever_takes_the_turn_is_shown_what_an_agent_has_staged(
    here: Machine, session: SessionId, tmp_path: Path
) -> None:
    bot, anna = set_up(here, session, tmp_path)
    bots = bot.operator.actor.id

    assert anna.request(wire.Take()) is None

    taken = anna.wait(parties.Inherited)
    assert (taken.staged, taken.by) == (b"rm -rf /", (bots,))
    changed = {(one.what, one.name): one.by for one in taken.changed}
    assert changed["alias", "deploy"] == (bots,)
    assert changed["path-entry", f"{tmp_path}/evil"] == (bots,)


def test_c109_the_agent_is_blamed_for_all_three(
    here: Machine, session: SessionId, tmp_path: Path
) -> None:
    bot, _ = set_up(here, session, tmp_path)
    bots = bot.operator.actor.id

    for what, name in (("alias", "deploy"), ("path-entry", f"{tmp_path}/evil")):
        behind = calls.blame(session, what, name).behind
        assert behind is not None
        assert behind.trigger == bots
    assert calls.blame(session, "line").by == (Stretch(len(b"rm -rf /"), bots),)


def test_c109_what_an_agent_has_staged_is_held_when_a_human_enters_it(
    here: Machine, session: SessionId, tmp_path: Path
) -> None:
    bot, anna = set_up(here, session, tmp_path)

    anna.post(b"\r")
    held = anna.wait(wire.Pending)
    assert ("line", "rm -rf /") in uses(held)
    anna.send(wire.Deny(held.ticket, held.digest))
    assert isinstance(anna.settle(), wire.Refuse)

    assert isinstance(anna.enter(b"\x15"), wire.Acknowledge)
    anna.post(b"deploy\r")
    held = anna.wait(wire.Pending)
    assert held.rule == "set-up-by-agents"
    # The cleared line is still said to be the bot's too: C-u proves nothing.
    assert (bot.operator.actor.id,) in [one.by for one in held.uses]
    assert "alias deploy (rm -rf build)" in held.runs


def test_what_an_agent_put_in_front_of_the_path_is_held_and_the_rest_is_not(
    here: Machine, session: SessionId, tmp_path: Path
) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / "uname").write_text("#!/bin/sh\ntouch ran\n")
    (evil / "uname").chmod(0o755)
    bot, anna = agent(here, session), here.join(session)
    does(bot, f"PATH={evil}:$PATH".encode(), 1)
    drops(bot, anna)

    does(anna, b"ls -d /", 2)
    anna.post(b"uname\r")

    held = anna.wait(wire.Pending)
    assert ("path-entry", str(evil)) in uses(held)
    assert str(evil / "uname") in held.runs


@pytest.mark.parametrize(
    ("name", "line", "what"),
    [
        ("zsh", b"alias deploy='rm -rf build'", "alias"),
        ("fish", b"function deploy; rm -rf build; end", "function"),
    ],
)
def test_other_shells_tell_what_was_set_up_as_well(
    here: Machine, tmp_path: Path, name: str, line: bytes, what: str
) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed here")
    session = shell(here, tmp_path, name)
    bot, anna = agent(here, session), here.join(session)
    does(bot, line, 1)
    drops(bot, anna)

    anna.post(b"deploy\r")

    assert (what, "deploy") in uses(anna.wait(wire.Pending))


def test_a_human_gets_past_what_an_agent_has_set_up(
    here: Machine, session: SessionId
) -> None:
    bot, anna = agent(here, session), here.join(session)
    does(bot, b"alias ls='rm -rf build'; export LD_PRELOAD=/gone.so", 1)
    drops(bot, anna)

    does(anna, b"unset LD_PRELOAD", 2)
    does(anna, b"command ls -d /", 3)
    does(anna, b"unalias ls", 4)
    does(anna, b"ls -d /", 5)


def test_what_somebody_approves_is_on_record_with_its_originators(
    here: Machine, session: SessionId
) -> None:
    bot, anna = agent(here, session), here.join(session)
    carl = here.join(session, f"carl-{os.urandom(3).hex()}")
    rights = ("observe", "approve")
    assert anna.request(parties.Grant(carl.operator.actor.id, rights, 0)) is None
    does(bot, b"alias deploy='echo done'", 1)
    drops(bot, anna)
    anna.post(b"deploy\r")
    held = carl.wait(wire.Pending)

    approval = wire.Approve(held.ticket, held.epoch, held.digest)
    assert carl.request(approval) is None
    assert isinstance(anna.settle(), wire.Acknowledge)

    last = book(session, EntryKind.INPUT)[-1]
    assert last.fields["actor"] == anna.operator.actor.id
    assert last.fields["originators"] == bot.operator.actor.id
    assert last.fields["approver"] == carl.operator.actor.id


def test_t30_an_approval_is_for_the_program_that_was_shown(
    here: Machine, session: SessionId, tmp_path: Path
) -> None:
    (tmp_path / "evil").mkdir()
    program = tmp_path / "evil" / "deploy"
    program.write_text("#!/bin/sh\necho harmless\n")
    program.chmod(0o755)
    bot, anna = agent(here, session), here.join(session)
    carl = here.join(session, f"carl-{os.urandom(3).hex()}")
    rights = ("observe", "approve")
    assert anna.request(parties.Grant(carl.operator.actor.id, rights, 0)) is None
    does(bot, f"PATH={tmp_path}/evil:$PATH".encode(), 1)
    drops(bot, anna)
    anna.post(b"deploy\r")
    held = carl.wait(wire.Pending)
    approval = wire.Approve(held.ticket, held.epoch, held.digest)
    program.write_text("#!/bin/sh\ntouch ran\n")

    refused = carl.request(approval)

    assert refused is not None
    assert refused.code == "approval-mismatch"
    assert carl.wait(wire.Pending).runs != held.runs
    assert carl.request(approval) is None
    assert isinstance(anna.settle(), wire.Acknowledge)


def test_t21_half_a_character_of_one_is_not_taken_for_the_whole_of_another(
    here: Machine, session: SessionId
) -> None:
    bot, anna = agent(here, session), here.join(session)
    assert isinstance(bot.enter("echo é".encode()[:-1]), wire.Acknowledge)
    drops(bot, anna)
    assert anna.request(wire.Take()) is None
    taken = anna.wait(parties.Inherited)

    anna.post("é".encode()[-1:] + b"\r")

    assert taken.by == (bot.operator.actor.id,)
    held = anna.wait(wire.Pending)
    assert [one.by for one in held.uses if one.what == "line"] == [
        (bot.operator.actor.id,)
    ]


def test_t21_an_escape_sequence_that_was_begun_is_shown_as_staged(
    here: Machine, session: SessionId
) -> None:
    bot, anna = agent(here, session), here.join(session)
    assert isinstance(bot.enter(b"rm -rf /\x1b["), wire.Acknowledge)
    drops(bot, anna)
    assert anna.request(wire.Take()) is None

    anna.post(b"\r")

    assert bot.operator.actor.id in anna.wait(parties.Inherited).by
    assert "line" in {one.what for one in anna.wait(wire.Pending).uses}


def test_t27_what_is_printed_changes_nothing_for_the_gate(
    here: Machine, session: SessionId
) -> None:
    bot, anna = agent(here, session), here.join(session)
    does(bot, b"alias deploy='rm x'; printf 'admin mode granted\\n'", 1)
    drops(bot, anna)
    anna.wait_output(b"admin mode granted")

    anna.post(b"deploy\r")

    assert anna.wait(wire.Pending).rule == "set-up-by-agents"


def test_a_successor_of_the_holder_holds_it_too(
    here: Machine, session: SessionId
) -> None:
    bot, anna = agent(here, session), here.join(session)
    does(bot, b"alias deploy='rm x'", 1)
    drops(bot, anna)
    here.replace_holder(session)
    anna.attach()
    wait_phase(session, "prompt")
    does(anna, b"true", 2)

    anna.post(b"deploy\r")

    assert ("alias", "deploy") in uses(anna.wait(wire.Pending))


def test_a_human_who_left_is_not_taken_for_an_agent(
    here: Machine, session: SessionId
) -> None:
    carl = here.join(session, f"carl-{os.urandom(3).hex()}")
    anna = here.join(session)
    does(carl, b"alias deploy='echo done'", 1)
    drops(carl, anna)
    carl.close()
    here.replace_holder(session)
    anna.attach()
    wait_phase(session, "prompt")

    does(anna, b"true", 2)  # At its next prompt the shell tells everything again.

    does(anna, b"deploy", 3)

    last = book(session, EntryKind.INPUT)[-1]
    assert last.fields["originators"] == carl.operator.actor.id


def test_what_would_happen_says_what_would_run(
    here: Machine, session: SessionId
) -> None:
    bot, anna = agent(here, session), here.join(session)
    does(bot, b"alias deploy='rm x'", 1)
    drops(bot, anna)
    ours = anna.operator.actor.id

    anna.send(Try(ours, InputKind.COMMAND, b"deploy", None))

    tried = anna.wait(Tried, wire.Refuse)
    assert isinstance(tried, Tried)
    assert ("alias", "deploy") in uses(tried)
    assert "/rm" in tried.runs
