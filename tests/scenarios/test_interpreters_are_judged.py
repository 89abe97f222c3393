"""What the kernel executes in the place of a file is judged like the file."""

import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.kernels import can_hold_execs
from tests.scenarios.gated import agent, execs, gated, run, write_policy
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.wire import messages as wire

pytestmark = pytest.mark.skipif(
    not can_hold_execs(), reason="this kernel cannot hold an exec"
)

FORMATS = Path("/proc/sys/fs/binfmt_misc")
LOADER = {
    "x86_64": "/lib64/ld-linux-x86-64.so.2",
    "aarch64": "/lib/ld-linux-aarch64.so.1",
}[platform.machine()]


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def bot(here: Machine, tmp_path: Path) -> Client:
    write_policy()
    client = agent(here, gated(here, cwd=str(tmp_path)))
    client.wait_output(b"$ ")
    return client


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def denied(bot: Client) -> list[tuple[object, object]]:
    return [(one.fields["rule"], one.fields["text"]) for one in execs(bot.session)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("#!/bin/rm\n", "/bin/rm ./kept"),
        ("#!/bin/rm", "/bin/rm ./kept"),
        ("#! \t/bin/rm  -f \n", "/bin/rm -f ./kept"),
        ("#!/bin/rm -f --\n", "/bin/rm '-f --' ./kept"),
        ("#!/bin/rm\t-f\0x\n", "/bin/rm -f ./kept"),
    ],
)
def test_an_interpreter_is_judged_with_the_words_it_gets(
    bot: Client, tmp_path: Path, line: str, words: str
) -> None:
    kept = script(tmp_path / "kept", line)

    run(bot, "./kept")

    assert kept.exists()
    assert denied(bot) == [("keep-files", words)]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_script_that_is_run_by_scripts_is_judged_to_the_end(
    bot: Client, tmp_path: Path, depth: int
) -> None:
    inner = script(tmp_path / "s0", "#!/bin/rm\n")
    for number in range(depth):
        inner = script(tmp_path / f"s{number + 1}", f"#!{inner}\n")
    kept = script(tmp_path / "kept", f"#!{inner} x\n")

    run(bot, "./kept")

    assert kept.exists()
    assert [rule for rule, _ in denied(bot)] == ["keep-files"]


def test_env_is_judged_by_what_it_starts(bot: Client, tmp_path: Path) -> None:
    kept = script(tmp_path / "kept", "#!/usr/bin/env -S rm -f\n")

    run(bot, "./kept")

    assert kept.exists()
    assert denied(bot) == [("keep-files", "rm -f ./kept")]


def test_a_script_whose_interpreter_is_allowed_runs(
    bot: Client, tmp_path: Path
) -> None:
    script(tmp_path / "inner", "#!/bin/sh -e\nshift 2; exec mkdir $1\n")
    script(tmp_path / "outer", f"#!{tmp_path}/inner x\n")

    run(bot, "./outer made")

    assert (tmp_path / "made").is_dir()
    assert denied(bot) == []


def waiting(here: Machine, bot: Client, line: str) -> wire.Pending:
    """Have the agent try something, and return what is asked about it."""
    anna = here.join(bot.session)
    bot.output = b""
    bot.enter(f"{line}; echo en''ded $?\r".encode())
    pending = anna.wait(wire.Pending)
    assert anna.request(wire.Deny(pending.ticket, pending.digest)) is None
    bot.wait_output(b"ended ")
    return pending


MEMORY = (
    "import os, sys; fd = os.memfd_create('innocent', {flags}); "
    "os.write(fd, {content}); os.execve({what}, ['x', 'kept'], {{}})"
)
PROGRAM = "open('/bin/rm', 'rb').read()"
FROM_MEMORY = {
    "a program": MEMORY.format(flags=1, content=PROGRAM, what="fd"),
    "a script": MEMORY.format(flags=0, content="b'#!/bin/sh\\nrm kept\\n'", what="fd"),
    "by its path": MEMORY.format(
        flags=0, content=PROGRAM, what="f'/proc/self/fd/{{fd}}'"
    )
    .replace("{{", "{")
    .replace("}}", "}"),
    "by another path": MEMORY.format(flags=0, content=PROGRAM, what="f'/dev/fd/{{fd}}'")
    .replace("{{", "{")
    .replace("}}", "}"),
}


@pytest.mark.parametrize("text", FROM_MEMORY.values(), ids=FROM_MEMORY)
def test_a_program_in_memory_is_asked_about_and_not_called_missing(
    here: Machine, bot: Client, tmp_path: Path, text: str
) -> None:
    (tmp_path / "kept").touch()
    (tmp_path / "try.py").write_text(text)

    pending = waiting(here, bot, "python3 try.py")

    assert pending.program == "memfd:innocent"
    assert (tmp_path / "kept").exists()


def test_a_deleted_program_is_asked_about(
    here: Machine, bot: Client, tmp_path: Path
) -> None:
    (tmp_path / "kept").touch()
    (tmp_path / "try.py").write_text(
        "import os, shutil; shutil.copy('/bin/rm', 'mine'); fd = os.open('mine', 0); "
        "os.unlink('mine'); os.execve(fd, ['x', 'kept'], {})"
    )

    pending = waiting(here, bot, "python3 try.py")

    assert pending.program == f"{tmp_path}/mine"
    assert (tmp_path / "kept").exists()


def test_the_loader_is_judged_by_the_program_it_loads(
    bot: Client, tmp_path: Path
) -> None:
    (tmp_path / "kept").touch()
    line = f"{LOADER} /bin/rm kept"

    run(bot, line)

    assert denied(bot) == [("keep-files", line)]
    assert (tmp_path / "kept").exists()


def test_a_process_names_itself_and_not_us(bot: Client, tmp_path: Path) -> None:
    (tmp_path / "try.py").write_text(
        "import os, sys\n"
        "if len(sys.argv) > 1: os.execv('/bin/mkdir', ['mkdir', 'made'])\n"
        "os.execv('/proc/self/exe', [sys.executable, 'try.py', 'again'])\n"
    )

    run(bot, "python3 try.py")

    assert (tmp_path / "made").is_dir()


@pytest.fixture
def format_of_rm() -> Iterator[str]:
    """Register a format for which /bin/rm is the interpreter; return its ending."""
    if os.geteuid() != 0 or not FORMATS.is_dir():
        pytest.skip("only root can register a format")
    was_mounted = (FORMATS / "register").exists()
    if not was_mounted:
        mount = ["mount", "-t", "binfmt_misc", "binfmt_misc", str(FORMATS)]
        subprocess.run(mount, check=True)
    name = f"hf{os.urandom(4).hex()}"
    (FORMATS / "register").write_text(f":{name}:E::{name}::/bin/rm:")
    try:
        yield name
    finally:
        (FORMATS / name).write_text("-1")
        if not was_mounted:
            subprocess.run(["umount", str(FORMATS)], check=False)  # noqa: S607


def test_a_registered_format_is_judged_by_its_interpreter(
    bot: Client, tmp_path: Path, format_of_rm: str
) -> None:
    kept = script(tmp_path / f"kept.{format_of_rm}", "anything")

    run(bot, f"./{kept.name}")

    assert kept.exists()
    assert denied(bot) == [("keep-files", f"/bin/rm ./{kept.name}")]


def test_a_format_of_a_user_namespace_is_not_decided(
    here: Machine, bot: Client, tmp_path: Path
) -> None:
    can = subprocess.run(["unshare", "-U", "true"], check=False, capture_output=True)  # noqa: S607
    if can.returncode:
        pytest.skip("no user namespaces can be made here")

    waiting(here, bot, "unshare -U mkdir made")

    assert not (tmp_path / "made").exists()
    eventually("nothing waits", lambda: not here.join(bot.session).who().pending)
