"""Before a command is typed, bash says what stands on its line; what is not empty, or
not told, has nothing typed behind it."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.lone_shell import LoneShell
from tests.scenarios.shells import run, shell
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.client import calls, driver
from holdfast.core.client.screen_question import screen
from holdfast.linux import pty
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.term.marks import Buffer, Standing
from holdfast.wire import messages as wire

KEY = "\x1b[7077~"

FIRED = "\\e[0n"
"""What the terminal answers to whoever prints ESC [ 5 n; nobody types it."""

POLICY = """
[default]
agent = "ask"
"""


@pytest.fixture
def home() -> Path:
    return Path(tempfile.mkdtemp(prefix="hf"))


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy(POLICY)
        yield made


@pytest.fixture
def lone(tmp_path: Path) -> Iterator[LoneShell]:
    shell = LoneShell("bash", tmp_path)
    yield shell
    shell.end()


def load(session: SessionId, binding: str, home: Path) -> None:
    """Bind a macro that nobody presses a key for."""
    go = home / "go"
    run(session, f"bind {binding}")
    waits = f"while ! [ -e {go} ]; do sleep 0.01; done; printf '\\033[5n'; rm {go}"
    run(session, f"{{ {waits}; }} &")


def fire(home: Path) -> None:
    """Have the macro run."""
    go = home / "go"
    go.touch()
    eventually("the macro is fired", lambda: not go.exists())
    time.sleep(0.3)  # The answer is on its way to readline.


def refusal(client: Client) -> str:
    client.post(b"true\r", InputKind.COMMAND)
    answer = client.settle()
    return answer.code if isinstance(answer, wire.Refuse) else ""


STAGED = "touch pwned #"

HIDDEN = {
    "text": STAGED,
    "text to be continued": "touch pwned; \\\\\\C-m",
    "an open quote": "touch pwned; : '\\''\\C-m",
    "blanks": "  ",
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("mode", ["emacs", "vi"])
def test_a_command_is_not_typed_behind_what_a_macro_has_left(
    here: Machine, home: Path, mode: str, text: str
) -> None:
    session = shell(here, home)
    run(session, f"cd {home}; set -o {mode}")
    load(session, f'\'"{FIRED}": "{text}"\'', home)
    fire(home)
    anna = here.join(session)

    assert refusal(anna) == "not-at-prompt"

    assert not (home / "pwned").exists()
    assert stands(session)
    clear(anna, session)
    assert run(session, "echo free").output.strip() == b"free"
    assert not (home / "pwned").exists()


def stands(session: SessionId) -> bool:
    return calls.blame(session, "line").standing != "none"


def clear(client: Client, session: SessionId) -> None:
    def is_gone() -> bool:
        # Pressed while bash answers, it may be lost.
        assert isinstance(client.enter(b"\x03"), wire.Acknowledge)
        time.sleep(0.3)
        return not stands(session)

    eventually("an empty line", is_gone)


def test_nor_is_one_that_was_approved_meanwhile(here: Machine, home: Path) -> None:
    session = shell(here, home)
    run(session, f"cd {home}")
    load(session, f'\'"{FIRED}": "{STAGED}"\'', home)
    anna = here.join(session)
    bot = here.join(session, "bot", ActorKind.AGENT)
    bot.post(b"true\r", InputKind.COMMAND)
    pending = anna.wait(wire.Pending)
    fire(home)

    anna.send(wire.Approve(pending.ticket, pending.epoch, pending.digest))

    answer = bot.settle()
    assert isinstance(answer, wire.Refuse)
    assert answer.code == "not-at-prompt"
    assert not (home / "pwned").exists()


def test_a_binding_that_is_gone_is_no_empty_line(here: Machine, home: Path) -> None:
    session = shell(here, home)
    run(session, "unbound() { bind -r '\\e[7077~'; }")
    load(session, f"-x '\"{FIRED}\": unbound'", home)
    fire(home)
    anna = here.join(session)

    assert refusal(anna) == "not-at-prompt"

    assert stands(session)  # Some of the key may, for all that is known.
    clear(anna, session)
    assert run(session, "echo bound again").output.strip() == b"bound again"


@pytest.mark.parametrize(
    "setting",
    [
        "set -o vi",
        "set +o emacs",
        "bind -r '\\e[7077~'",
        "set -eux",
        "shopt -s nocasematch",
        "PS2='more> '",
        "PS1='$(sleep 0.3)$ '",
        "alias __holdfast_buffer=false",
        "trap 'true' DEBUG",
    ],
)
def test_on_an_empty_line_commands_are_run(
    here: Machine, home: Path, setting: str
) -> None:
    session = shell(here, home)
    run(session, setting)

    for number in range(3):
        assert b"%d\r\n" % number in run(session, f"echo {number}").output


def rows_at_prompt(session: SessionId) -> list[str]:
    """Return what is shown, once that ends with a prompt; nothing before."""
    seen = driver.ask(session, screen(cells=False)).screen
    rows = [row.rstrip() for row in seen.lines if row.strip()]
    return rows if rows[-1:] == ["lower$"] else []


def test_nothing_is_seen_of_the_question(here: Machine, home: Path) -> None:
    session = shell(here, home)
    run(session, r"PS1='upper\n\[\e[32m\]lower\[\e[0m\]$ '; clear")
    for number in range(3):
        run(session, f"sh -c 'exit {number + 3}' {number}")
        assert run(session, 'echo "$? $_"').output.split() == [
            b"%d" % (number + 3),
            b"%d" % number,
        ]

    run(session, "true")  # The prompt behind it is what a question was asked at.
    rows = eventually("a prompt", lambda: rows_at_prompt(session))

    assert rows == [
        *(
            line
            for number in range(3)
            for line in (
                "upper",
                f"lower$ sh -c 'exit {number + 3}' {number}",
                "upper",
                'lower$ echo "$? $_"',
                f"{number + 3} {number}",
            )
        ),
        "upper",
        "lower$ true",
        "upper",
        "lower$",
    ]


ASKED = [
    ("", ""),
    ("a b", "a b"),
    ("é;\\\x16\x01x", "é;\\\x01x"),
    ("  ", "  "),
    ("x" * 2000, "x" * 1024),
]


@pytest.mark.parametrize(("keys", "line"), ASKED, ids=range(len(ASKED)))
def test_bash_tells_what_stands_there(lone: LoneShell, keys: str, line: str) -> None:
    lone.enter("LC_ALL=C.UTF-8")

    buffers = ask(lone, keys)

    assert buffers == [Buffer(line, len(keys.replace("\x16", "").encode()))]


@pytest.mark.parametrize(
    "setting",
    ["shopt -u promptvars", "readonly PS2=x", "PS2=x; bind -x '\"x\": PS2=y'"],
)
def test_where_it_could_not_tell_it_tells_nothing(
    lone: LoneShell, setting: str
) -> None:
    lone.enter(setting)

    assert ask(lone, "x" if "bind" in setting else "") == []


def test_a_line_that_goes_on_is_not_empty(lone: LoneShell) -> None:
    lone.type("echo \\\r")
    lone.wait_shown(b"> ")

    assert ask(lone, "") == []


def ask(lone: LoneShell, keys: str) -> list[Buffer]:
    """Return what is said of a line on which these keys were pressed."""
    # Before readline reads, the terminal itself takes some keys for its own.
    lone.wait_until(lambda: not pty.is_canonical(lone.master))
    before = len(lone.marks)
    lone.type(keys)
    lone.type(KEY)

    def said() -> list[Buffer | Standing]:
        kinds = (Buffer, Standing)
        return [one for one in lone.marks[before:] if isinstance(one, kinds)]

    lone.wait_until(lambda: bool(said()))
    return [one for one in said() if isinstance(one, Buffer)]
