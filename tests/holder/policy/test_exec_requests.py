"""What becomes of execs in a session with a gate: let, refused, asked about."""

import contextlib
import os
import select
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.holder.input_world import SESSION, WINDOW, Client
from tests.linux.gated import Gated, gated
from tests.scenarios.support import apply_policy

from holdfast.client import current_operator
from holdfast.core.book.logbook import EntryKind, recover
from holdfast.core.input import gate
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.context import Context
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.output.attention import AttentionCalls
from holdfast.holder.policy.exec_requests import ExecRequests
from holdfast.holder.poll import Poll
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.record.note_memory import AREA, NoteMemory
from holdfast.holder.session import Session
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux import shared_memory
from holdfast.linux.stored import folders
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.errors import ApprovalMismatch, NotAllowed
from holdfast.model.ids import ActorId
from holdfast.model.session_record import HeldRecord, SessionRecord
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire

LOOP = 'while read line; do $line; echo "@$?"; done'
"""A leader that executes each line, and says what came of it."""

RULES = """
[default]
agent = "allow"
[[rule]]
name = "no-id"
verdict = "deny"
kind = "agent"
at = "exec"
first = "id"
why = "nobody needs to know"
[[rule]]
name = "nice-asks"
verdict = "ask"
kind = "agent"
first = "nice"
"""
PATIENCE = 20.0

ID, NICE = str(shutil.which("id")), str(shutil.which("nice"))
"""By their whole paths: a shell tries the next folder when one is refused."""


@dataclass
class Shell:
    """A session with an exec gate, and who is attached to it."""

    leader: Gated
    descriptors: SessionDescriptors
    clients: list[Client] = field(default_factory=list)
    said: str = ""

    def __post_init__(self) -> None:
        raw = shared_memory.view(self.descriptors.memory)
        StreamWindow.create(raw[AREA:])
        shell = ShellCommands(self.descriptors, StreamWindow.open(raw[AREA:]))
        clients, timers = AttachedClients(), Timers()
        self.context = Context(
            self.descriptors,
            clients,
            shell,
            Poll(),
            timers,
            AttentionCalls(self.descriptors, clients, timers, self.descriptors.change),
            _ignore,
            lambda: None,
        )
        self.session = Session(self.context, NoteMemory(raw[:AREA]))

    @property
    def execs(self) -> ExecRequests:
        """The exec gate."""
        assert self.session.execs is not None
        return self.session.execs

    def join(self, operator: Enrolled) -> Client:
        """Let somebody in."""
        client = Client(self.context, self.session, operator, len(self.clients) + 1)
        self.clients.append(client)
        self.context.clients.connections.append(client.connection)
        self.session.presence.meet(operator.actor)
        self.session.presence.came(client.connection)
        client.told()
        return client

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self.leader.master, line.encode() + b"\n")

    def run(self, line: str) -> str:
        """Type a line; return how the leader says it ended."""
        self.type(line)
        return self.outcome()

    def outcome(self) -> str:
        """Return how the line that runs has ended."""
        self.until(lambda: "\r\n" in self.said.partition("@")[2])
        status, _, self.said = self.said.partition("@")[2].partition("\r\n")
        return status

    def until(self, happened: Callable[[], bool]) -> None:
        """Do what the loop does, until something has happened."""
        give_up_at = time.monotonic() + PATIENCE
        while not happened():
            assert time.monotonic() < give_up_at, self.said
            self.context.poll.turn(0.01)
            self.context.timers.tick(time.monotonic())
            if select.select([self.leader.master], [], [], 0)[0]:
                self.said += os.read(self.leader.master, 1 << 12).decode()

    def pending(self, client: Client) -> wire.Pending:
        """Wait until something is shown that waits for approval."""
        found: list[wire.Pending] = []

        def is_shown() -> bool:
            found.extend(x for x in client.told() if isinstance(x, wire.Pending))
            return bool(found)

        self.until(is_shown)
        return found[0]

    def fields(self, kind: EntryKind) -> list[dict[str, object]]:
        """Return what the book has of one kind."""
        raw = Path(folders.session_log(SESSION)).read_bytes()
        entries = recover(raw, SESSION).entries
        return [dict(entry.fields) for entry in entries if entry.kind is kind]


def _ignore(_: object) -> None:
    pass


@pytest.fixture
def anna(own_folders: None) -> Enrolled:
    del own_folders
    return current_operator.ourselves()


@pytest.fixture
def bot(anna: Enrolled) -> Enrolled:
    del anna
    return current_operator.enrol("bot", ActorKind.AGENT)


@pytest.fixture
def here(bot: Enrolled) -> Iterator[Shell]:
    apply_policy(RULES)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with (
        gated("sh", "-c", LOOP) as leader,
        contextlib.ExitStack() as stack,
    ):
        memory = shared_memory.create(SESSION, AREA + WINDOW)
        pidfd = os.pidfd_open(leader.pid)
        for fd in (memory, pidfd):
            stack.callback(os.close, fd)
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        record = SessionRecord(SESSION, "build", leader.pid, command=("sh",), cwd="/")
        held = HeldRecord(creator=bot.actor.id)
        gate_fds = (leader.listener, leader.memory)
        descriptors = SessionDescriptors(
            record, held, leader.master, memory, listener, pidfd, gate_fds
        )
        made = Shell(leader, descriptors)
        yield made
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(made.execs._stops)  # noqa: SLF001  # what ends with a holder
        for client in made.clients:
            client.close()


def test_what_no_rule_speaks_of_is_executed(here: Shell) -> None:
    assert here.run("env true") == "0"
    assert here.run("env false") == "1"
    assert here.fields(EntryKind.EXEC) == []


def test_what_a_rule_denies_is_not_and_it_is_on_record(
    here: Shell, bot: Enrolled
) -> None:
    assert here.run(ID) == "126"
    assert here.run(f"env {ID}") == "126"
    here.execs.settle()

    said = here.fields(EntryKind.EXEC)
    assert sum(int(str(one.get("count", 1))) for one in said) == 2
    assert said[0]["actor"] == bot.actor.id
    assert said[0]["rule"] == "no-id"
    assert "id" in str(said[0]["program"])


def test_what_is_not_there_is_said_to_be_missing(here: Shell) -> None:
    assert here.run("/nowhere/at-all") == "127"
    assert here.fields(EntryKind.EXEC) == []


def test_an_exec_is_shown_and_happens_once_it_is_approved(
    here: Shell, anna: Enrolled, bot: Enrolled
) -> None:
    person, agent = here.join(anna), here.join(bot)
    here.type(f"{NICE} true")
    shown = here.pending(person)

    assert (shown.actor, shown.rule) == (bot.actor.id, "nice-asks")
    assert shown.excerpt == f"{NICE} true".encode()
    assert shown.size == len(shown.excerpt)
    assert shown.program == NICE
    assert here.execs.knows(shown.ticket)
    assert not here.execs.knows(shown.ticket + 1)
    approved = gate.Approved(shown.ticket, anna.actor.id, shown.digest, shown.epoch)
    here.execs.approve(approved)

    assert here.outcome() == "0"
    (settled,) = [one for one in agent.told() if isinstance(one, wire.Settled)]
    assert settled == wire.Settled(shown.ticket, Verdict.ALLOW, anna.actor.id)
    (asked,) = here.fields(EntryKind.ASKED)
    (answered,) = here.fields(EntryKind.ANSWERED)
    assert (asked["ticket"], asked["rule"]) == (shown.ticket, "nice-asks")
    assert (answered["ticket"], answered["by"]) == (shown.ticket, anna.actor.id)
    assert not here.execs.knows(shown.ticket)


def test_only_who_may_approve_approves_and_only_what_was_shown(
    here: Shell, anna: Enrolled, bot: Enrolled
) -> None:
    person = here.join(anna)
    here.join(bot)
    here.type(f"{NICE} true")
    shown = here.pending(person)

    with pytest.raises(NotAllowed):
        here.execs.approve(
            gate.Approved(shown.ticket, bot.actor.id, shown.digest, shown.epoch)
        )
    with pytest.raises(ApprovalMismatch):
        here.execs.approve(
            gate.Approved(shown.ticket, anna.actor.id, bytes(32), shown.epoch)
        )
    with pytest.raises(NotAllowed):
        here.execs.deny(gate.Denied(shown.ticket, ActorId("a_" + "x" * 32)))
    assert here.execs.knows(shown.ticket)


@pytest.mark.parametrize("is_own", [True, False])
def test_an_exec_that_is_denied_fails_and_its_actor_may_withdraw_it(
    here: Shell, anna: Enrolled, bot: Enrolled, *, is_own: bool
) -> None:
    person, agent = here.join(anna), here.join(bot)
    here.type(f"{NICE} true")
    shown = here.pending(person)

    by = bot.actor.id if is_own else anna.actor.id
    here.execs.deny(gate.Denied(shown.ticket, by))

    assert here.outcome() == "126"
    (settled,) = [one for one in agent.told() if isinstance(one, wire.Settled)]
    assert settled == wire.Settled(shown.ticket, Verdict.DENY, by)
    assert not here.execs.knows(shown.ticket)


def test_who_is_killed_while_it_waits_waits_no_more(
    here: Shell, anna: Enrolled
) -> None:
    person = here.join(anna)
    here.type(f"{NICE} true")
    shown = here.pending(person)

    children = Path(f"/proc/{here.leader.pid}/task/{here.leader.pid}/children")
    for pid in map(int, children.read_text().split()):
        os.kill(pid, signal.SIGKILL)

    here.until(lambda: not here.execs.knows(shown.ticket))
    assert here.outcome() == "137"
    assert here.session.notifications.pending == ()


def test_a_successor_asks_again_about_what_waits(here: Shell, anna: Enrolled) -> None:
    person = here.join(anna)
    here.type(f"{NICE} true")
    shown = here.pending(person)
    here.context.poll.unwatch(here.leader.listener)
    former = here.execs
    here.session.execs = here.session.gate_execs(here.context)
    heir = here.execs

    again = here.pending(person)
    assert again.ticket != shown.ticket
    assert again.digest == shown.digest
    heir.approve(gate.Approved(again.ticket, anna.actor.id, again.digest, again.epoch))
    assert here.outcome() == "0"
    os.close(former._stops)  # noqa: SLF001  # what ends with a holder


def test_other_rules_hold_from_the_next_exec_on(here: Shell) -> None:
    assert here.run(ID) == "126"
    apply_policy('[default]\nagent = "allow"\n')
    assert here.run(ID) == "0"
    apply_policy('[default]\nagent = "deny"\n')
    assert here.run(ID) == "126"
