"""What one operator has started and another one types into runs in the name of both."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.kernels import can_hold_execs
from tests.scenarios.gated import agent, execs, gated, pass_turn, run, write_policy
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.client import calls, current_operator
from holdfast.model.ids import SessionId

pytestmark = pytest.mark.skipif(
    not can_hold_execs(), reason="this kernel cannot hold an exec"
)

TICK = 0.03
"""Seconds after which the kernel dates a process otherwise, thrice over."""

SHELL = "PS1='in''ner ' bash --norc --noprofile -i"
PYTHON = "python3 -qic \"import sys; sys.ps1 = 'in' 'ner '\""
BY_SHELL = "rm kept; echo tri''ed"
BY_PYTHON = "import os; os.system('rm kept'); print('tri' 'ed')"

INNER = {
    "a shell": (SHELL, BY_SHELL),
    "a shell in a shell": (f'sh -c "{SHELL}; true"', BY_SHELL),
    "an interpreter": (PYTHON, BY_PYTHON),
    "an interpreter in the shell's own group": (f"set +m; {PYTHON}", BY_PYTHON),
}


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def anna(here: Machine, tmp_path: Path) -> Client:
    write_policy()
    client = here.join(gated(here, cwd=str(tmp_path)))
    client.wait_output(b"$ ")
    (tmp_path / "kept").touch()
    return client


def begin(anna: Client, line: str) -> None:
    anna.output = b""
    anna.enter(f"{line}\r".encode())
    anna.wait_output(b"inner ")


def tries(bot: Client, *lines: str) -> None:
    bot.output = b""
    bot.enter("".join(f"{line}\r" for line in lines).encode())
    bot.wait_output(b"tried\r\n")


def is_held(bot: Client, folder: Path) -> bool:
    rules = {entry.fields["rule"] for entry in execs(bot.session)}
    return (folder / "kept").exists() and rules == {"keep-files"}


@pytest.mark.parametrize(("line", "harm"), INNER.values(), ids=INNER)
def test_what_an_agent_types_into_a_human_s_program_is_the_agent_s_too(
    here: Machine, anna: Client, tmp_path: Path, line: str, harm: str
) -> None:
    begin(anna, line)
    bot = agent(here, anna.session)
    pass_turn(anna, bot)

    tries(bot, harm)

    assert is_held(bot, tmp_path)


def test_what_an_agent_continues_is_the_agent_s_too(
    here: Machine, anna: Client, tmp_path: Path
) -> None:
    begin(anna, SHELL)
    anna.enter(b"suspend\r")
    anna.wait_output(b"Stopped")
    bot = agent(here, anna.session)
    pass_turn(anna, bot)

    tries(bot, "fg", BY_SHELL)

    assert is_held(bot, tmp_path)


def test_what_a_human_left_in_the_background_stays_the_human_s(
    here: Machine, anna: Client, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    run(anna, f"mkfifo {fifo}; (read x < {fifo}; rm kept; echo > done) & true")
    time.sleep(TICK)  # In the tick of a change either may be meant.
    bot = agent(here, anna.session)
    pass_turn(anna, bot)

    run(bot, f"cat /dev/null; echo go > {fifo}")

    eventually("it is done", (tmp_path / "done").exists)
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("is_marked", [True, False])
def test_a_successor_knows_who_fed_it(
    here: Machine, tmp_path: Path, *, is_marked: bool
) -> None:
    write_policy()
    (tmp_path / "kept").touch()
    session = (
        integrated(here, tmp_path) if is_marked else gated(here, cwd=f"{tmp_path}")
    )
    anna = here.join(session)
    anna.wait_output(b"# " if is_marked and not os.geteuid() else b"$ ")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    begin(anna, SHELL)
    bot = agent(here, session)
    pass_turn(anna, bot)
    bot.enter(f"echo be''gun; read x < {fifo}; {BY_SHELL}\r".encode())
    bot.wait_output(b"begun\r\n")

    here.replace_holder(session)
    fifo.write_text("go\n")

    bot.wait_output(b"tried\r\n")
    assert is_held(bot, tmp_path)


def integrated(here: Machine, folder: Path) -> SessionId:
    """Start a shell that tells of its commands, and whose execs are judged."""
    answer = here.ask(
        do="create",
        command=["bash"],
        cwd=str(folder),
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PS1": "$ "},
        size=[200, 24],
        creator=current_operator.ourselves().actor.id,
        integration=True,
        exec_gate=True,
    )
    assert answer["ok"], answer
    session = SessionId(str(answer["id"]))
    eventually("a prompt", lambda: calls.report(session).phase == "prompt")
    return session
