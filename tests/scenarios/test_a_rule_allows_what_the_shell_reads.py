"""A rule about words allows a line only where the shell, and it alone, reads it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell, wait_phase
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.client import calls
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

POLICY = """
[[rule]]
name = "look"
verdict = "allow"
kind = "agent"
first = ["echo", "head", "sleep", "read", "bash", "cat", "env", "python3"]

[undecidable]
agent = "deny"
"""

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture
def home() -> Path:
    return Path(tempfile.mkdtemp(prefix="hf"))


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy(POLICY)
        yield made


def enter(bot: Client, line: bytes, kind: InputKind = InputKind.KEYS) -> str:
    """Return by which rule an agent's line was refused, or "" if it was taken."""
    bot.post(line + (b"\r" if kind is InputKind.KEYS else b""), kind)
    answer = bot.settle()
    if isinstance(answer, wire.Acknowledge):
        return ""
    assert isinstance(answer, wire.Refuse)
    return str(answer.facts.get("rule") or answer.code)


def becomes(session: SessionId, word: str) -> None:
    eventually(word, lambda: calls.state(session).state == word)


@pytest.mark.parametrize("name", SHELLS)
@pytest.mark.parametrize(
    "running",
    [
        b"head -c5",  # takes five bytes, and the shell runs the rest
        b"sleep 3",  # reads nothing: what is typed ahead is the shell's, later
        b"cat",
        b"bash --norc -i",  # a shell, but not the session's
    ],
)
def test_what_a_program_may_read_is_undecidable(
    here: Machine, home: Path, name: str, running: bytes
) -> None:
    session = shell(here, home, name)
    bot = here.join(session, "bot", ActorKind.AGENT)
    assert enter(bot, running) == ""
    wait_phase(session, "running")

    assert enter(bot, b"echo rm -rf x") == "undecidable"


@pytest.mark.parametrize("name", SHELLS)
def test_what_a_builtin_of_the_shell_may_read_is_undecidable(
    here: Machine, home: Path, name: str
) -> None:
    session = shell(here, home, name)
    bot = here.join(session, "bot", ActorKind.AGENT)
    assert enter(bot, b"read -n 5 x" if name != "zsh" else b"read -k 5 x") == ""
    wait_phase(session, "running")

    assert enter(bot, b"echo rm -rf x") == "undecidable"


@pytest.mark.parametrize("name", SHELLS)
def test_at_the_prompt_the_same_line_is_allowed_again(
    here: Machine, home: Path, name: str
) -> None:
    session = shell(here, home, name)
    bot = here.join(session, "bot", ActorKind.AGENT)
    assert enter(bot, b"sleep 0.2") == ""
    wait_phase(session, "running")
    assert enter(bot, b"echo one") == "undecidable"
    wait_phase(session, "prompt")

    assert enter(bot, b"echo rm -rf x") == ""
    bot.wait_output(b"rm -rf x\r\n")


@pytest.mark.parametrize("command", [("dash", "-i"), ("bash", "--norc", "-i")])
def test_without_marks_the_kernel_says_who_reads(
    here: Machine, command: tuple[str, ...]
) -> None:
    session = here.new(*command)
    bot = here.join(session, "bot", ActorKind.AGENT)
    becomes(session, "at-prompt")
    assert enter(bot, b"cat") == ""
    becomes(session, "waiting-for-input")

    assert enter(bot, b"echo rm -rf x") == "undecidable"


def test_a_program_that_is_no_shell_reads_no_commands(here: Machine) -> None:
    session = here.new("cat")
    bot = here.join(session, "bot", ActorKind.AGENT)
    becomes(session, "waiting-for-input")

    assert enter(bot, b"echo rm -rf x") == "undecidable"


def test_whoever_reads_beside_the_shell_is_noticed(here: Machine, home: Path) -> None:
    session = shell(here, home, "bash")
    anna = here.join(session)
    bot = here.join(session, "bot", ActorKind.AGENT)
    anna.enter(b"set +m; head -c5 </dev/tty >/dev/null & sleep 0.2; echo go''ne\r")
    anna.wait_output(b"gone\r\n")
    wait_phase(session, "prompt")
    assert anna.request(wire.Drop()) is None
    bot.who()

    assert enter(bot, b"echo rm -rf x") == "undecidable"
