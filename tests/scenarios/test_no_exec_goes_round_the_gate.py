"""Whatever a command starts meets the same rules, however it is started."""

import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.kernels import can_hold_execs
from tests.scenarios.gated import (
    agent,
    bare_program,
    execs,
    gated,
    pass_turn,
    run,
    write_policy,
)
from tests.scenarios.support import Client, Machine, eventually, machine

pytestmark = pytest.mark.skipif(
    not can_hold_execs(), reason="this kernel cannot hold an exec"
)

X86_64 = platform.machine() == "x86_64"


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def bot(here: Machine, tmp_path: Path) -> Client:
    write_policy()
    client = agent(here, gated(here, cwd=str(tmp_path)))
    client.wait_output(b"$ ")
    (tmp_path / "kept").touch()
    (tmp_path / "script").write_text("#!/bin/sh\nrm kept\n")
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "named").symlink_to(shutil.which("rm") or "/bin/rm")
    return client


WAYS = {
    "a shell inside": "sh -c 'rm kept'",
    "a line of pipes": "echo kept | xargs rm",
    "an environment": "env rm kept",
    "a script": "./script",
    "a subshell": "(rm kept)",
    "a full path": "/bin/rm kept",
    "find": "find . -name kept -exec rm {} +",
    "another name for it": "bash -c 'exec -a ls rm kept'",
    "a link of another name": "./named kept",
    "the background": "rm kept & wait $!",
    "a session of its own": "setsid --wait rm kept",
    "the shell itself": "bash -c 'exec rm kept'",
    "python": "python3 -c \"import subprocess as s; s.call(['rm', 'kept'])\"",
    "a spawn": 'python3 -c "import os; os.waitpid(os.posix_spawn('
    "'/bin/rm', ['rm', 'kept'], {}), 0)\"",
    "a descriptor": 'python3 -c "import os; os.execve('
    "os.open('/bin/rm', 0), ['x', 'kept'], {})\"",
    "a thread": 'python3 -c "import threading, os; t = threading.Thread('
    "target=lambda: os.execv('/bin/rm', ['rm', 'kept'])); t.start(); t.join()\"",
    "a filter of its own": "setpriv --no-new-privs rm kept",
    "a word that is no text": "/bin/rm kept $'\\xff'",
    "a name that is no text": "(exec -a $'r\\xffm' /bin/rm kept)",
    "a word that is too long": "/bin/rm kept $(printf 'x%.0s' {1..9000})",
    "more words than are read": "/bin/rm kept {1..600}",
    "no words at all": 'python3 -c "import ctypes; '
    "ctypes.CDLL(None).execve(b'/bin/rm', None, None)\"",
    "a path through /proc": "/proc/self/root/bin/rm kept",
    "a place in the table of the shell": "hash -p /bin/rm ls; ls kept",
}


@pytest.mark.parametrize("line", WAYS.values(), ids=WAYS)
def test_what_is_denied_is_denied_however_it_is_started(
    bot: Client, tmp_path: Path, line: str
) -> None:
    run(bot, line)

    assert (tmp_path / "kept").exists()
    assert {entry.fields["rule"] for entry in execs(bot.session)} == {"keep-files"}


@pytest.mark.skipif(not X86_64, reason="the programs are of another processor")
@pytest.mark.parametrize("dialect", ["x86_64", "i386", "x32"])
def test_a_program_without_a_library_is_held_in_every_dialect_of_the_kernel(
    bot: Client, tmp_path: Path, dialect: str
) -> None:
    bare_program(tmp_path / "bare", dialect, "/bin/rm", "kept")

    said = run(bot, "./bare")

    assert (tmp_path / "kept").exists()
    assert "ended 1\r" in said  # EPERM
    assert execs(bot.session)[0].fields["text"] == "/bin/rm kept"


@pytest.mark.skipif(not X86_64, reason="the programs are of another processor")
@pytest.mark.parametrize("dialect", ["x86_64", "i386"])
def test_a_program_without_a_library_may_execute_what_is_allowed(
    bot: Client, tmp_path: Path, dialect: str
) -> None:
    bare_program(tmp_path / "bare", dialect, "/bin/mv", "kept", "moved")

    run(bot, "./bare")

    assert (tmp_path / "moved").exists()


def test_a_human_may_execute_what_an_agent_may_not(
    here: Machine, bot: Client, tmp_path: Path
) -> None:
    run(bot, "rm kept")
    anna = here.join(bot.session)
    pass_turn(bot, anna)

    def removed() -> bool:
        run(anna, "rm kept")
        return not (tmp_path / "kept").exists()

    # What starts in the tick of the clock in which another typed is judged as both's.
    eventually("what a human starts is a human's", removed)


def test_what_an_agent_left_running_runs_in_its_name_when_a_human_types(
    here: Machine, bot: Client, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    run(bot, f"mkfifo {fifo}; (read x < {fifo}; rm kept; echo tried > tried) & true")
    anna = here.join(bot.session)
    pass_turn(bot, anna)

    run(anna, f"echo go > {fifo}; wait")

    assert (tmp_path / "tried").exists()
    assert (tmp_path / "kept").exists()


def test_a_loop_that_an_agent_began_goes_on_in_its_name(
    here: Machine, bot: Client, tmp_path: Path
) -> None:
    bot.enter(b"until [ -e stop ]; do sleep 0.02; rm kept; done\r")
    bot.wait_output(b"not permitted")
    anna = here.join(bot.session)
    pass_turn(bot, anna)

    anna.enter(b"hello\r")
    anna.output = b""
    anna.wait_output(b"not permitted")
    (tmp_path / "stop").touch()

    assert (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("place", "left"), [("", 1), ('at = "exec"', 1), ('at = "input"', 0)]
)
def test_a_rule_says_where_it_is_about(
    here: Machine, bot: Client, tmp_path: Path, place: str, left: int
) -> None:
    write_policy(f'[[rule]]\nverdict = "deny"\nfirst = "rm"\n{place}\n')
    anna = here.join(bot.session)

    run(anna, "./script")

    assert len([*tmp_path.glob("kept")]) == left


def test_an_agent_that_may_nothing_by_default_may_execute_what_a_rule_allows(
    bot: Client, tmp_path: Path
) -> None:
    write_policy(
        '[[rule]]\nverdict = "allow"\nkind = "agent"\nat = "input"\n'
        '[[rule]]\nverdict = "allow"\nkind = "agent"\nat = "exec"\nfirst = "mv"\n'
    )

    run(bot, "mv kept moved; cp moved copied")

    assert (tmp_path / "moved").exists()
    assert not (tmp_path / "copied").exists()


def test_a_session_without_the_gate_does_not_pretend_to_have_one(
    here: Machine,
) -> None:
    write_policy()
    session = here.new("bash", "--norc")
    bot, anna = agent(here, session), here.join(session)

    refused = bot.enter(b"ls\r")

    assert getattr(refused, "code", "") == "denied-by-policy"
    assert "keep-files" in getattr(refused, "text", "")
    run(anna, "true")
