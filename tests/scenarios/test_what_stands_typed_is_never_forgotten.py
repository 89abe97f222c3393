"""An agent leaves a line, whatever it pressed; whoever comes next is told and asked."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell, wait_editor, wait_phase
from tests.scenarios.support import Machine, apply_policy, eventually, machine

from holdfast.client import calls
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties

POLICY = """
[default]
agent = "allow"

[[rule]]
name = "left-by-agents"
verdict = "ask"
kind = "human"
originator_kind = "agent"
staged = "line"
"""

LINE = b"touch left-by-the-agent"

EVERYWHERE = {
    "as it is": LINE,
    "C-d": LINE + b"\x04",
    "C-a C-u": LINE + b"\x01\x15",
    "C-a C-d": LINE + b"\x01\x04",
    "C-v C-u": LINE + b"\x16\x15",
    "C-v CR": LINE + b"\x16\r",
    "a CR in a paste": b"\x1b[200~" + LINE + b"\r\x1b[201~",
    "C-r": LINE + b"\r\x12touch",
    "up": LINE + b"\r\x1b[A",
    "C-e": LINE + b"\x05",
    "erased and undone": b"x" + LINE + b"\x7f" * 24 + b"\x1f" * 3,
    "tab": b"touc\t",
    "several": b"\r\r" + LINE + b"\x16\r",
    "continued": LINE + b" \\\r",
    "quoted": LINE + b" '\r",
}
BASH = {
    "C-x C-e": LINE + b"\x18\x05",
    "killed and yanked": LINE + b"\x15\x19",
    "last word": LINE + b"\r\x1b.",
    "macro": b"\x18(" + LINE + b"\x18)",
    "comment": LINE + b"\x1b#\x1b[A",
    "C-o": LINE + b"\r" + b"true\r\x10\x10\x0f",
}
ZSH = {
    "killed and yanked": LINE + b"\x15\x19",
    "pushed away": LINE + b"\x1bq",
}
FISH = {
    "killed and yanked": LINE + b"\x15\x19",
    "searched": LINE + b"\r\x1b[A",
}
CASES = [
    *(("bash", name, keys) for name, keys in {**EVERYWHERE, **BASH}.items()),
    *(("zsh", name, keys) for name, keys in {**EVERYWHERE, **ZSH}.items()),
    *(
        ("fish", name, keys)
        for name, keys in {**EVERYWHERE, **FISH}.items()
        if name != "C-v CR"  # To fish, C-v is another key: the line is entered.
    ),
]

SET_UP = [
    ("bash", b"set -o vi", LINE + b"\x1bdd\x1bu"),
    ("bash", b"set -o vi", LINE + b"\x1b0\x15"),
    ("bash", b"bind '\"\\C-u\": end-of-line'", LINE + b"\x15"),
    ("bash", b"bind '\"\\C-m\": end-of-line'", LINE + b"\r"),
    ("bash", b"bind '\"\\C-c\": end-of-line'; stty intr undef", LINE + b"\x03"),
    ("bash", b"trap '' INT", b"\r" + LINE + b"\x03"),
    ("bash", b"bind 'set bind-tty-special-chars off'; stty kill undef", LINE + b"\x15"),
    ("zsh", b"bindkey -v", LINE + b"\x1bdd\x1bu"),
    ("zsh", b"bindkey '^U' end-of-line", LINE + b"\x15"),
    ("zsh", b"bindkey '^M' end-of-line", LINE + b"\r"),
    ("fish", b"fish_vi_key_bindings", LINE + b"\x1bddu"),
    ("fish", b"bind \\cu end-of-line", LINE + b"\x15"),
    ("fish", b"bind \\r end-of-line", LINE + b"\r"),
]


@pytest.fixture
def home() -> Path:
    return Path(tempfile.mkdtemp(prefix="hf"))


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy(POLICY)
        yield made


class Two:
    """An agent that leaves a line, and a human who comes next."""

    def __init__(self, here: Machine, session: SessionId) -> None:
        self._here = here
        self.session = session
        self.anna = here.join(session)
        self.bot = here.join(session, "bot", ActorKind.AGENT)

    def leaves(self, keys: bytes) -> None:
        assert isinstance(self.bot.enter(keys), wire.Acknowledge)
        assert self.bot.request(wire.Drop()) is None
        assert not self.anna.who().holder

    def hands(self) -> set[ActorId]:
        """Return who has a hand in what stands typed, by `blame --line`."""
        report = calls.blame(self.session, "line")
        assert (report.standing != "none") is bool(report.by or report.others)
        return {*(one.actor for one in report.by), *report.others}

    @property
    def left(self) -> bool:
        return self.bot.operator.actor.id in self.hands()

    def is_told(self) -> bool:
        """Take the turn, and return whether the agent's hand was told with it."""
        assert self.anna.request(wire.Take()) is None
        inherited = self.anna.wait(parties.Inherited)
        others = [actor for one in inherited.changed for actor in one.by]
        return self.bot.operator.actor.id in {*inherited.by, *others}

    def runs(self) -> str:
        """Have a command run by the human, and return why it was not."""
        client = self._here.join(self.session)
        client.post(b"true\r", InputKind.COMMAND)
        answer = client.settle()
        return answer.code if isinstance(answer, wire.Refuse) else ""

    def is_asked(self) -> bool:
        """Press Enter, and return whether somebody has to approve that."""
        self.anna.post(b"\r")
        heard = self.anna.wait(wire.Acknowledge, wire.Refuse, wire.Pending)
        if not isinstance(heard, wire.Pending):
            return False
        assert heard.rule == "left-by-agents"
        self.anna.send(wire.Deny(heard.ticket, heard.digest))
        refused = self.anna.settle()
        assert isinstance(refused, wire.Refuse)
        assert refused.code == "denied-by-operator"
        return True


def holds(two: Two) -> None:
    assert two.left
    assert two.is_told()
    assert two.runs() == "not-at-prompt"
    assert two.is_asked()
    assert two.left


@pytest.mark.parametrize(
    ("name", "keys"),
    [(name, keys) for name, _, keys in CASES],
    ids=[f"{name}: {what}" for name, what, _ in CASES],
)
def test_whatever_an_agent_pressed_its_line_is_asked_about(
    here: Machine, home: Path, name: str, keys: bytes
) -> None:
    editor = home / "editor"
    editor.write_text("#!/bin/sh\nread x </dev/tty\n")
    editor.chmod(0o755)
    session = shell(here, home, name, EDITOR=str(editor), VISUAL=str(editor))
    two = Two(here, session)

    two.leaves(keys)

    holds(two)


@pytest.mark.parametrize(
    ("name", "setting", "keys"),
    SET_UP,
    ids=[f"{one[0]}: {one[1].decode()}" for one in SET_UP],
)
def test_whatever_an_agent_has_bound_its_line_is_asked_about(
    here: Machine, home: Path, name: str, setting: bytes, keys: bytes
) -> None:
    session = shell(here, home, name)
    two = Two(here, session)
    two.bot.enter(setting + b"\r")
    eventually("a command", lambda: ran(two))
    wait_editor(here, session)

    two.leaves(keys)

    holds(two)


def ran(two: Two) -> bool:
    return b'"finished"' in places.session_log(two.session).read_bytes()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_line_that_was_given_up_is_asked_about_no_more(
    here: Machine, home: Path, name: str
) -> None:
    session = shell(here, home, name)
    two = Two(here, session)
    two.leaves(LINE + b"\x01\x15")
    two.anna.wait_output(b"left-by-the-agent")
    assert two.is_asked()

    two.anna.enter(b"\x03")

    eventually("nothing stands there", lambda: not two.hands())
    assert not two.is_asked()
    wait_phase(session, "prompt")
    eventually("nothing stands there", lambda: not two.hands())
    assert two.runs() == ""


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_whoever_works_alone_is_never_asked(
    here: Machine, home: Path, name: str
) -> None:
    session = shell(here, home, name)
    two = Two(here, session)

    for keys in (b"\x1b[A", b"ls\x01\x15", b"\x16\x15", b"pwd\x7f\x7f\x7f", b"\t"):
        two.anna.enter(keys)
        assert not two.is_asked()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_what_an_agent_typed_ahead_is_asked_about(
    here: Machine, home: Path, name: str
) -> None:
    session = shell(here, home, name)
    two = Two(here, session)
    two.bot.enter(b"sleep 1\r")
    wait_phase(session, "running")

    two.leaves(LINE)
    wait_phase(session, "prompt")

    holds(two)


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_what_an_agent_gave_a_program_is_asked_about_no_more(
    here: Machine, home: Path, name: str
) -> None:
    session = shell(here, home, name)
    two = Two(here, session)
    two.bot.enter(b"read x; sleep 0.5\r")
    wait_phase(session, "running")

    two.leaves(b"an answer\r")
    wait_phase(session, "prompt")

    eventually("nothing stands there", lambda: not two.hands())
    assert not two.is_asked()


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("zsh", [b"print -z " + LINE + b"\r"]),
        ("zsh", [LINE + b"\x1bq", b"true\r"]),
        ("fish", [b"commandline '" + LINE + b"'\r"]),
    ],
    ids=["print -z", "push-line", "commandline"],
)
def test_what_an_agent_has_the_shell_put_on_its_line_is_asked_about(
    here: Machine, home: Path, name: str, lines: list[bytes]
) -> None:
    session = shell(here, home, name)
    two = Two(here, session)
    for line in lines[:-1]:
        two.bot.enter(line)

    two.leaves(lines[-1])
    eventually("a command", lambda: ran(two))
    wait_phase(session, "prompt")
    eventually("a line", lambda: two.left)

    holds(two)
    assert calls.blame(session, "line").staged == LINE


@pytest.mark.parametrize("pushed", [1, 2])
def test_a_line_that_zsh_has_put_away_is_asked_about_whoever_brings_it_back(
    here: Machine, home: Path, pushed: int
) -> None:
    two = Two(here, shell(here, home, "zsh"))
    two.leaves((LINE + b"\x1bq") * pushed)
    for _ in range(pushed):
        two.anna.enter(b"\x03")
        eventually("it is back", lambda: blamed(two) == LINE)
    assert two.anna.request(wire.Drop()) is None

    holds(two)


def blamed(two: Two) -> bytes:
    return calls.blame(two.session, "line").staged


DASH = {
    "as it is": LINE,
    "C-d": LINE + b"\x04",
    "C-v C-u": LINE + b"\x16\x15",
    "C-v CR": LINE + b"\x16\r",
    "C-a": LINE + b"\x01",
    "continued": LINE + b" \\\r",
    "quoted": LINE + b" '\r",
    "in a loop": b"for x in 1 2\rdo " + LINE + b"\r",
}


def dash(here: Machine) -> Two:
    session = here.new("dash", "-i")
    eventually("a prompt", lambda: calls.state(session).state == "at-prompt")
    return Two(here, session)


@pytest.mark.parametrize("keys", DASH.values(), ids=DASH)
def test_in_dash_what_the_terminal_has_not_thrown_away_is_asked_about(
    here: Machine, keys: bytes
) -> None:
    two = dash(here)

    two.leaves(keys)

    assert two.left
    assert two.is_told()
    assert two.is_asked()


@pytest.mark.parametrize("keys", [LINE + b"\x15", LINE + b"\x03", b"true\r"])
def test_in_dash_what_the_terminal_has_thrown_away_or_handed_over_is_gone(
    here: Machine, keys: bytes
) -> None:
    two = dash(here)

    two.leaves(keys)

    assert not two.hands()
    assert not two.is_asked()


def test_in_dash_a_kill_character_that_is_none_kills_nothing(here: Machine) -> None:
    two = dash(here)
    two.bot.enter(b"stty kill undef\r")
    eventually("a prompt", lambda: calls.state(two.session).state == "at-prompt")

    two.leaves(LINE + b"\x15")

    assert two.left
    assert two.is_asked()


@pytest.mark.parametrize("command", [("bash", "--norc", "-i"), ("zsh", "-f", "-i")])
def test_without_marks_whoever_gives_a_line_up_is_asked_no_more(
    here: Machine, command: tuple[str, ...]
) -> None:
    session = here.new(*command)
    eventually("a prompt", lambda: calls.state(session).state == "at-prompt")
    two = Two(here, session)

    two.leaves(LINE + b"\x16\r")
    assert two.left
    assert two.is_asked()
    two.anna.enter(b"\x03")

    assert not two.left
    assert not two.is_asked()
