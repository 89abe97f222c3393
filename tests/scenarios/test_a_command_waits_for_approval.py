"""A command that is held for approval is waited for, and not taken for lost."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.scenarios.shells import run, shell
from tests.scenarios.support import Client, apply_policy, eventually, machine

from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.core.client.command_output import Ran
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.errors import DeniedByOperator
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

POLICY = '[[rule]]\nname = "careful"\nverdict = "ask"\ninput = "command"\n'


def have_commands_approved(more: str = "", *, kinds: bool = False) -> None:
    rule = POLICY.replace('"command"', '["command", "keys", "resize"]')
    apply_policy(more + (rule if kinds else POLICY))


@pytest.mark.parametrize("verdict", ["approve", "deny"])
def test_a_command_waits_for_its_approval_longer_than_for_the_terminal(
    tmp_path: Path, verdict: str
) -> None:
    with machine() as made:
        session = shell(made, tmp_path)
        have_commands_approved()
        boss = made.join(session, "boss", ActorKind.HUMAN)
        found: list[Ran | Exception] = []
        waiting = threading.Thread(target=lambda: found.append(_tried(session)))
        waiting.start()

        _decide(boss, verdict)
        waiting.join()
        if verdict == "approve":
            assert isinstance(found[0], Ran)
            assert found[0].output == b"hi\r\n"
        else:
            assert isinstance(found[0], DeniedByOperator)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--timeout", "0.5", "--json", "{}", "echo hi"),
        ("run", "--approval-timeout", "0.5", "--json", "{}", "echo hi"),
        ("send", "--approval-timeout", "0.5", "--json", "{}", "--enter", "echo hi"),
        ("keys", "--approval-timeout", "0.5", "--json", "{}", "x"),
        ("resize", "--approval-timeout", "0.5", "--json", "{}", "90x30"),
    ],
    ids=" ".join,
)
def test_what_nobody_approves_in_time_is_taken_back_and_was_not_done(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    with machine() as made:
        session = shell(made, tmp_path)
        have_commands_approved(kinds=True)
        boss = made.join(session, "boss", ActorKind.HUMAN)

        said = [word.format(session) for word in words]
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *said],
            capture_output=True,
            check=False,
        )
        assert done.returncode == 75
        assert json.loads(done.stderr)["error"]["code"] == "approval-timeout"
        assert boss.who().pending == ()
        inputs = [one for one in book(session) if one.kind is EntryKind.INPUT]
        assert [one.fields["input"] for one in inputs] == ["start"]


def test_what_is_held_is_given_up_when_its_client_is_gone_and_holds_up_nothing_more(
    tmp_path: Path,
) -> None:
    with machine() as made:
        session = shell(made, tmp_path)
        have_commands_approved("[turn]\ngrace = 0.5\n")
        boss = made.join(session, "boss", ActorKind.HUMAN)
        first = made.join(session, "bot", ActorKind.AGENT)
        second = made.join(session, "bot", ActorKind.AGENT)

        first.post(b"echo held\r", InputKind.COMMAND)
        pending = boss.wait(wire.Pending)
        first.close()

        assert boss.wait(wire.Settled).ticket == pending.ticket
        assert boss.who().pending == ()
        second.epoch = boss.who().epoch
        second.post(b"echo next\r", InputKind.COMMAND)
        assert boss.wait(wire.Pending).excerpt == b"echo next\r"
        (given_up,) = [one for one in book(session) if one.kind is EntryKind.REFUSED]
        assert given_up.fields["code"] == "asker-gone"
        assert given_up.fields["client"] == first.client


def test_a_client_that_comes_back_in_time_finds_what_it_sent_still_held(
    tmp_path: Path,
) -> None:
    with machine() as made:
        session = shell(made, tmp_path)
        have_commands_approved("[turn]\ngrace = 60\n")
        boss = made.join(session, "boss", ActorKind.HUMAN)
        bot = made.join(session, "bot", ActorKind.AGENT)

        bot.submit(b"echo held\r", InputKind.COMMAND)
        pending = boss.wait(wire.Pending)
        bot.attach()
        approve = wire.Approve(pending.ticket, pending.epoch, pending.digest)

        assert boss.request(approve) is None
        assert isinstance(bot.settle_through_cuts(), wire.Acknowledge)


def book(session: SessionId) -> list[Entry]:
    return [*recover(places.session_log(session).read_bytes(), session).entries]


def _tried(session: SessionId) -> Ran | Exception:
    try:
        return run(session, "echo hi")
    except DeniedByOperator as error:
        return error


def _decide(boss: Client, verdict: str) -> None:
    pending = boss.wait(wire.Pending)
    if verdict == "approve":
        asked = wire.Approve(pending.ticket, pending.epoch, pending.digest)
        eventually("approved", lambda: boss.request(asked) is None)
    else:
        assert boss.request(wire.Deny(pending.ticket, pending.digest)) is None
