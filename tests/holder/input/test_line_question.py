"""What bash is asked before a command is typed, at a terminal that a program reads."""

import contextlib
import math
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.holder.provenance.test_shell_commands import ANNA, SESSION, WINDOW, Shell
from tests.linux.terminals import PYTHON, Stage
from tests.scenarios.support import eventually

from holdfast.client import current_operator
from holdfast.core.session.stream import StreamWindow
from holdfast.core.shell.shell_state import Item, ItemKind, ShellState
from holdfast.holder.input import line_question
from holdfast.holder.input.line_question import LineQuestion
from holdfast.holder.provenance import shell_commands
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.provenance.state_channel import make_pipe
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux import pty, shared_memory
from holdfast.model.errors import NotAtPrompt
from holdfast.model.ids import ENTROPY, actor_id, client_id
from holdfast.model.inputs import InputKind
from holdfast.model.session_record import HeldRecord, SessionRecord
from holdfast.term.marks import Began, Buffer, Prompted

READER = """
import os, tty
tty.setraw(0)
print("reads", end="", flush=True)
while data := os.read(0, 100):
    print(data, end="", flush=True)
"""
OTHER, OTHER_CLIENT = actor_id(b"other"), client_id(b"n" * ENTROPY)
LATE = f"input()\n{READER}"


@dataclass
class Asked:
    """A question, the shell that it is about, and what was answered."""

    stage: Stage
    shell: Shell
    question: LineQuestion
    timers: Timers
    answers: list[NotAtPrompt | None] = field(default_factory=list)

    def ask(self, kind: InputKind = InputKind.COMMAND) -> bool:
        given = self.shell.given(kind=kind)
        return self.question.ask(given, self.answers.append)

    def tick(self) -> None:
        """Do what the clock demands."""
        self.timers.tick(time.monotonic())

    def why(self) -> str:
        """Return why nothing may be typed, as it was answered."""
        (answer,) = self.answers
        assert answer is not None
        return str(answer.facts["why"])


@contextlib.contextmanager
def asked_of(integration: str, program: str) -> Iterator[Asked]:
    stage = Stage(PYTHON, "-c", program)
    memory = shared_memory.create(SESSION, WINDOW)
    record = SessionRecord(SESSION, "build", stage.pid, command=("bash", "-i"))
    held = HeldRecord(creator=ANNA, integration=integration)
    with socket.socket(socket.AF_UNIX) as listener:
        descriptors = SessionDescriptors(
            record, held, stage.master, memory, listener, -1
        )
        view = shared_memory.view(memory)
        StreamWindow.create(view)
        make_pipe(SESSION)
        window, timers = StreamWindow.open(view), Timers()
        shell = Shell(ShellCommands(descriptors, window), window)
        question = LineQuestion(descriptors, shell.following, timers)
        yield Asked(stage, shell, question, timers)
    channel = shell.following.channel
    if channel is not None and channel.fd is not None:
        os.close(channel.fd)
    stage.close()
    os.close(memory)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    current_operator.ourselves()


@pytest.fixture
def asked() -> Iterator[Asked]:
    """A shell that reads key by key, at its prompt."""
    with asked_of("bash", READER) as made:
        made.stage.says(b"reads")
        made.shell.says(Prompted())
        yield made


@pytest.fixture
def late() -> Iterator[Asked]:
    """One that reads whole lines until it is given one."""
    with asked_of("bash", LATE) as made:
        eventually("it runs", lambda: pty.foreground(made.stage.master))
        made.shell.says(Prompted())
        yield made


def test_a_shell_with_an_empty_line_may_be_typed_at(asked: Asked) -> None:
    assert asked.ask()
    asked.stage.says(b"7077~")
    asked.tick()
    assert asked.answers == []

    asked.shell.says(Buffer("", 0))
    asked.question.heard()
    assert asked.timers.first == 0.0
    asked.tick()

    assert asked.answers == [None]
    assert asked.question.waiting is None


def test_what_stands_there_and_nobody_typed_is_told(asked: Asked) -> None:
    asked.ask()

    asked.shell.says(Buffer("rm -rf", 6))
    asked.tick()

    assert asked.why() == "the line has text that no operator typed"


def test_a_line_that_is_entered_meanwhile_is_told(asked: Asked) -> None:
    asked.ask()

    asked.shell.says(Began("make", 4))
    asked.tick()

    assert asked.why() == "a line was entered just now"


def test_an_answer_from_before_is_none(asked: Asked) -> None:
    asked.shell.says(Buffer("", 0))
    asked.ask()

    asked.tick()

    assert asked.answers == []


def test_an_answer_counts_for_the_question_that_was_sent_after_it(
    late: Asked,
) -> None:
    late.ask()
    late.shell.says(Buffer("", 0))

    late.tick()

    assert late.answers == []


def test_it_is_asked_once_and_then_waited_for(asked: Asked) -> None:
    asked.ask()
    before = time.monotonic()
    asked.tick()
    asked.tick()

    # Not before the deadline, unless the shell says something.
    assert asked.timers.first > before + line_question.PATIENCE / 2
    asked.stage.says(b"7077~")
    asked.question.heard()
    asked.tick()
    asked.stage.type(b"!")
    asked.stage.says(b"b'!'")  # Nothing was sent in between.


def test_a_shell_that_does_not_answer_may_have_part_of_it_on_its_line(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_question, "PATIENCE", 0.0)
    asked.ask()

    asked.tick()

    assert asked.why() == "it does not report its line"
    standing = asked.shell.following.line.stands()
    assert (standing.is_empty, standing.by) == (False, (ANNA,))


def test_a_shell_that_was_never_asked_has_nothing_on_its_line(
    late: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_question, "PATIENCE", 0.0)
    late.ask()

    late.tick()

    assert late.why() == "it does not report its line"
    assert late.shell.following.line.stands().is_empty


def test_it_is_asked_as_soon_as_it_reads_key_by_key(
    late: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_question, "PATIENCE", 10.0**6)
    late.ask()
    late.tick()
    assert late.timers.first < time.monotonic() + 1  # It is looked again soon.

    late.stage.type(b"\r")
    late.stage.says(b"reads")
    while late.timers.first < time.monotonic() + 1:
        late.tick()

    late.stage.says(b"b'\\x1b[7077~'")
    late.shell.says(Buffer("", 0))
    late.question.heard()
    late.tick()
    assert late.answers == [None]


def test_without_a_question_nothing_is_done(asked: Asked) -> None:
    asked.question.heard()

    assert asked.timers.first == math.inf
    asked.question._tick(0.0)  # noqa: SLF001  # as a timer that was set before
    asked.stage.type(b"!")
    asked.stage.says(b"b'!'")


def test_only_a_command_asks(asked: Asked) -> None:
    assert not asked.ask(InputKind.KEYS)
    assert asked.question.waiting is None


@pytest.mark.parametrize(
    ("name", "is_asked"), [("emacs", True), ("vi", True), ("posix", False)]
)
def test_only_a_shell_that_edits_its_line_itself_is_asked(
    asked: Asked, name: str, *, is_asked: bool
) -> None:
    items = {Item(ItemKind.OPTION, name): b""}
    asked.shell.following.shell_state = ShellState(items, None, {}, {}, is_whole=True)

    assert asked.ask() == is_asked


def doubtful(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something typed while a command ran, so late that it may stand there."""
    monkeypatch.setattr(shell_commands, "ON_ITS_WAY", 0.0)
    line = asked.shell.following.line
    asked.shell.says(Began("python3", 7))
    line.typed(OTHER, b"exit()", echo_off=False)
    asked.shell.says(Prompted())
    assert not line.stands().is_empty


def test_what_was_typed_before_the_prompt_is_asked_about_and_may_be_gone(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = asked.shell.given()
    assert not asked.question.settle(given, asked.answers.append)
    doubtful(asked, monkeypatch)
    asked.shell.following.demand_prompt(asked.shell.given(client=OTHER_CLIENT))

    assert asked.question.settle(given, asked.answers.append)
    asked.stage.says(b"7077~")
    asked.tick()
    assert asked.answers == []
    asked.shell.says(Buffer("", 0))
    asked.question.heard()
    asked.tick()

    assert asked.answers == [None]
    assert asked.shell.following.line.stands().is_empty


def test_what_still_stands_there_is_its_typist_s(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubtful(asked, monkeypatch)
    asked.question.settle(asked.shell.given(), asked.answers.append)
    asked.shell.says(Buffer("exit()", 6))
    asked.tick()

    assert asked.why() == "the line has text that no operator typed"
    assert OTHER in asked.shell.following.line.stands().by
    with pytest.raises(NotAtPrompt):
        asked.shell.following.demand_prompt(asked.shell.given(client=OTHER_CLIENT))


def test_without_an_answer_nobody_who_had_a_hand_in_it_is_forgotten(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubtful(asked, monkeypatch)
    monkeypatch.setattr(line_question, "PATIENCE", 0.0)
    asked.question.settle(asked.shell.given(), asked.answers.append)
    asked.stage.says(b"7077~")
    asked.tick()

    assert asked.why() == "it does not report its line"
    assert {OTHER, ANNA} <= {*asked.shell.following.line.stands().by}


def test_what_may_be_on_its_way_is_waited_for(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubtful(asked, monkeypatch)
    monkeypatch.setattr(shell_commands, "ON_ITS_WAY", math.inf)
    asked.question.settle(asked.shell.given(), asked.answers.append)
    asked.tick()

    assert asked.answers == []
    monkeypatch.setattr(shell_commands, "ON_ITS_WAY", 0.0)
    asked.question.heard()
    asked.tick()
    asked.stage.says(b"7077~")


def test_only_bash_is_asked() -> None:
    with asked_of("zsh", READER) as made:
        made.stage.says(b"reads")
        made.shell.says(Prompted())

        assert not made.ask()
