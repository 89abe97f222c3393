"""What a session's shell says of its commands, as far as it is believed."""

import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.term.mark_bytes import to_bytes

from holdfast.client import current_operator
from holdfast.core.book.logbook import EntryKind
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.provenance.command_messages import Told
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.provenance.state_channel import make_pipe
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import pty, shared_memory, shells
from holdfast.model.errors import NoMarks, NotAtPrompt, OutcomeForgotten
from holdfast.model.geometry import Size
from holdfast.model.ids import (
    ENTROPY,
    FIRST_INCARNATION,
    NO_EPOCH,
    ActorId,
    ClientId,
    SessionId,
    client_id,
)
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.session_record import HeldRecord, SessionRecord
from holdfast.term.marks import Began, Buffer, Ended, Mark, Prompted, Standing
from holdfast.term.queries import Query, QueryKind
from holdfast.wire import commands as wire

SESSION = SessionId("s_" + "a" * 16)
WINDOW = 1 << 16
ANNA = ActorId("a_" + "a" * 32)
CLIENT = client_id(b"c" * ENTROPY)


@dataclass
class Shell:
    """A shell that prints marks, and what follows it."""

    following: ShellCommands
    window: StreamWindow
    sequence: int = 0

    def says(self, *marks: Mark, nonce: bytes = b"", at: int = 0) -> list[Told]:
        """Have the shell print marks."""
        nonce = nonce or shells.nonce_of(SESSION)
        return self.following.heard(
            Query(QueryKind.MARK, at, to_bytes(mark, nonce)) for mark in marks
        )

    def given(
        self,
        payload: bytes = b"make\r",
        kind: InputKind = InputKind.COMMAND,
        client: ClientId = CLIENT,
    ) -> Input:
        """Return an input."""
        self.sequence += 1
        name = InputId(client, self.sequence)
        return Input(name, ANNA, kind, FIRST_INCARNATION, NO_EPOCH, payload)

    def enters(self, given: Input) -> None:
        """Have an input written to the terminal."""
        self.following.enters()
        self.following.entered(given, [])

    def report(self, client: str = "") -> wire.CommandReport:
        """Ask what came of a command."""
        return self.following.report(wire.CommandRequest(ClientId(client)))


@contextlib.contextmanager
def followed(integration: str) -> Iterator[Shell]:
    master, slave = pty.open_pty(Size(80, 24))
    memory = shared_memory.create(SESSION, WINDOW)
    record = SessionRecord(SESSION, "build", os.getpid(), command=("bash", "-i"))
    held = HeldRecord(creator=ANNA, integration=integration)
    with socket.socket(socket.AF_UNIX) as listener:
        descriptors = SessionDescriptors(record, held, master, memory, listener, -1)
        view = shared_memory.view(memory)
        StreamWindow.create(view)
        if integration:
            make_pipe(SESSION)
        window = StreamWindow.open(view)
        made = Shell(ShellCommands(descriptors, window), window)
        yield made
    if made.following.channel is not None and made.following.channel.fd is not None:
        os.close(made.following.channel.fd)
    for fd in (master, slave, memory):
        os.close(fd)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    current_operator.ourselves()


@pytest.fixture
def shell() -> Iterator[Shell]:
    with followed("bash") as made:
        yield made


def test_a_shell_is_at_its_prompt_once_it_says_so(shell: Shell) -> None:
    following = shell.following
    assert not following.at_prompt
    assert following.is_silent
    assert not following.runs_nothing
    shell.says(Prompted())
    assert following.at_prompt
    assert not following.is_silent
    assert following.runs_nothing


def test_a_command_is_followed_from_prompt_to_prompt(shell: Shell) -> None:
    following = shell.following
    shell.says(Prompted())
    given = shell.given()
    following.demand_prompt(given)
    shell.enters(given)
    assert not following.at_prompt

    (began,) = shell.says(Began("make", 4), at=7)
    assert following.running is not None
    assert not following.runs_nothing
    assert began.kind is EntryKind.BEGAN
    assert isinstance(began.message, wire.CommandStarted)
    told = began.message.command
    assert (told.number, told.client, told.line) == (1, CLIENT, "make")
    assert (told.start, told.end, told.status) == (7, None, None)
    assert shell.report(CLIENT) == wire.CommandReport("running", told)

    finished, *_ = shell.says(Ended(3, "/srv"), Prompted(), at=20)
    assert finished.kind is EntryKind.FINISHED
    assert isinstance(finished.message, wire.CommandEnded)
    told = finished.message.command
    assert (told.end, told.status, told.cwd) == (20, 3, "/srv")
    assert following.running is None
    assert following.last is not None
    assert following.ran() == (following.last,)
    assert shell.report() == shell.report(CLIENT) == wire.CommandReport("prompt", told)
    assert shell.report(client_id(b"d" * ENTROPY)).command is None


def test_a_mark_with_another_nonce_is_none(shell: Shell) -> None:
    shell.says(Prompted())

    assert shell.says(Began("make", 4), nonce=b"0" * 32) == []
    assert shell.following.at_prompt


def test_what_is_no_mark_says_nothing(shell: Shell) -> None:
    nonce = shells.nonce_of(SESSION)
    mark = to_bytes(Prompted(), nonce)
    other = next(kind for kind in QueryKind if kind is not QueryKind.MARK)

    assert shell.following.heard([Query(other, 0, mark)]) == []
    assert not shell.following.at_prompt


def test_a_command_needs_the_shell_at_an_empty_prompt(shell: Shell) -> None:
    def why() -> str:
        with pytest.raises(NotAtPrompt) as caught:
            shell.following.demand_prompt(shell.given(client=client_id(b"n" * ENTROPY)))
        return str(caught.value)

    assert "has not shown one yet" in why()
    shell.says(Prompted(), Standing("rm", 2))
    assert "something was typed" in why()
    shell.says(Began("rm", 2))
    assert "a command runs" in why()
    shell.following.demand_prompt(shell.given(b"x", InputKind.KEYS))


def test_a_command_that_was_typed_once_is_not_typed_again(shell: Shell) -> None:
    shell.says(Prompted())
    shell.enters(shell.given())
    shell.says(Began("make", 4), Ended(0, "/"), Prompted())

    with pytest.raises(OutcomeForgotten):
        shell.following.demand_prompt(shell.given())


def test_the_shell_s_answer_what_stands_on_its_line_is_kept(shell: Shell) -> None:
    shell.says(Prompted())
    assert shell.following.buffer is None
    shell.says(Buffer("ls", 2))

    assert shell.following.buffer == Buffer("ls", 2)


def test_what_is_too_long_to_be_told_stands_there_all_the_same(shell: Shell) -> None:
    shell.says(Prompted(), Standing("", 0))

    assert not shell.following.line.stands().is_empty


def test_a_line_of_a_size_only_is_not_known(shell: Shell) -> None:
    shell.says(Prompted())
    (began,) = shell.says(Began("", 0))

    assert isinstance(began.message, wire.CommandStarted)
    assert began.message.command.line == ""


def test_keys_are_nobody_s_command(shell: Shell) -> None:
    shell.says(Prompted())
    shell.enters(shell.given(b"make\r", InputKind.KEYS))
    (began,) = shell.says(Began("make", 4))

    assert isinstance(began.message, wire.CommandStarted)
    assert began.message.command.client == ""


def test_a_size_changes_nothing_that_is_followed(shell: Shell) -> None:
    shell.says(Prompted())
    shell.enters(shell.given(b"80x24", InputKind.RESIZE))

    assert shell.following.at_prompt


def test_a_shell_without_marks_tells_nothing() -> None:
    with followed("") as shell:
        assert shell.says(Prompted()) == []
        assert not shell.following.is_marked
        shell.following.demand_prompt(shell.given())
        assert shell.following.channel is None
        with pytest.raises(NoMarks) as caught:
            shell.report()
        assert "bash" in str(caught.value)


def test_nobody_asks_the_kernel_unless_a_predecessor_died(shell: Shell) -> None:
    assert shell.following.resume() == []
