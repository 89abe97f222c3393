"""What is typed while nothing shows it is on no record, key by key as well."""

import base64
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell, wait_phase
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine

from holdfast.core.book.logbook import recover
from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.linux import pty
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

CANARY = b"wellensittich"
"""What is looked for; typed in one piece, and key by key."""

HOLDFAST = (sys.executable, "-m", "holdfast")
TAKEN = "&& printf 'ta''ken\\n'"
SECRETIVE = (
    "import os, sys, termios; new = termios.tcgetattr(0);"
    "new[3] &= ~({flags}); termios.tcsetattr(0, termios.TCSADRAIN, new);"
    "print('re' 'ady', flush=True); n = 13;\n"
    "while n: n -= len(os.read(0, n))\n"
    "print('ta' 'ken')"
)
GETPASS = "import getpass; getpass.getpass('re' 'ady'); print('ta' 'ken')"


def program(folder: Path, text: str) -> str:
    """Return a line that runs a program nobody has heard of."""
    path = folder / "unlisted.py"
    path.write_text(text)
    return f"{sys.executable} {path}"


RAW = SECRETIVE.replace("{flags}", "termios.ECHO | termios.ICANON | termios.ISIG")
CBREAK = SECRETIVE.replace("{flags}", "termios.ECHO | termios.ICANON")
WHOLE = SECRETIVE.replace("{flags}", "termios.ECHO")

READS = {
    "bash": "read -s x; echo ta''ken",
    "bash by key": "read -s -n 13 x; echo ta''ken",
    "bash with an editor": "read -s -e x; echo ta''ken",
    "zsh": "read -s x; echo ta''ken",
    "zsh by key": "read -s -k 13 x; echo ta''ken",
    "fish": "read -s x; echo ta''ken",
    "fish by key": "read -s -n 13 x; echo ta''ken",
}


@pytest.fixture
def folder() -> Path:
    # Short, as the path of a socket must be; the machine removes it.
    return Path(tempfile.mkdtemp(prefix="hf"))


@pytest.fixture
def here(folder: Path) -> Iterator[Machine]:
    with machine(str(folder)) as made:
        yield made


def type_it(client: Client, *, by_key: bool) -> None:
    pieces = [bytes([key]) for key in CANARY] if by_key else [CANARY]
    for piece in pieces:
        assert isinstance(client.enter(piece), wire.Acknowledge)
    client.enter(b"\r")


def typed(session: SessionId) -> bytes:
    """Return all the bytes that the logbook has, one after the other."""

    raw = Path(places.session_log(session)).read_bytes()
    entries = recover(raw, session).entries
    data = [one.fields.get("data") for one in entries if one.kind == "input"]
    return b"".join(base64.b64decode(one) for one in data if isinstance(one, str))


def assert_nowhere(session: SessionId, folder: Path) -> None:
    assert CANARY not in typed(session)
    for words in (["log", session], ["log", session, "--json"]):
        told = subprocess.run([*HOLDFAST, *words], capture_output=True, check=False)
        assert told.stdout
        assert CANARY not in told.stdout + told.stderr
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert [path for path in written if CANARY in path.read_bytes()] == []


@pytest.mark.parametrize("by_key", [True, False], ids=["keys", "piece"])
@pytest.mark.parametrize("name", READS)
def test_t67_what_a_shell_reads_in_silence_is_on_no_record(
    here: Machine,
    folder: Path,
    name: str,
    by_key: bool,  # noqa: FBT001  # a parameter
) -> None:
    session = shell(here, folder, name.split(maxsplit=1)[0])
    client = here.join(session)
    client.enter(READS[name].encode() + b"\r")
    wait_phase(session, "running")
    eventually("nothing is shown", lambda: not settings(here, session).echo)

    type_it(client, by_key=by_key)

    client.wait_output(b"taken\r\n")
    assert_nowhere(session, folder)


@pytest.mark.parametrize("text", [RAW, CBREAK, WHOLE, GETPASS])
@pytest.mark.parametrize("name", ["bash", "zsh", "fish", "dash"])
def test_t67_what_an_unlisted_program_reads_in_silence_is_on_no_record(
    here: Machine, folder: Path, name: str, text: str
) -> None:
    session = here.new("dash", "-i") if name == "dash" else shell(here, folder, name)
    client = here.join(session)
    client.enter(program(folder, text).encode() + b"\r")
    client.wait_output(b"ready")

    type_it(client, by_key=True)

    client.wait_output(b"taken\r\n")
    assert_nowhere(session, folder)


@pytest.mark.parametrize("inner", ["bash --norc -i", "zsh -f -i"])
@pytest.mark.parametrize("by_key", [True, False], ids=["keys", "piece"])
def test_t67_what_a_shell_inside_reads_in_silence_is_on_no_record(
    here: Machine,
    folder: Path,
    inner: str,
    by_key: bool,  # noqa: FBT001  # a parameter
) -> None:
    session = shell(here, folder, "bash")
    client = here.join(session)
    client.enter(inner.encode() + b"\r")
    wait_phase(session, "running")
    client.enter(b"echo in''side\r")
    client.wait_output(b"inside\r\n")
    option = "-n" if inner.startswith("bash") else "-k"

    client.enter(f"read -s {option} 13 x; echo ta''ken\r".encode())
    eventually("it is silent", lambda: is_silent(here, session))
    type_it(client, by_key=by_key)

    client.wait_output(b"taken\r\n")
    assert_nowhere(session, folder)
    assert b"echo in''side" in typed(session)  # at its prompt it is on record


def is_silent(here: Machine, session: SessionId) -> bool:
    found = settings(here, session)
    return not found.echo and not found.is_line_editor


def settings(here: Machine, session: SessionId) -> LineDiscipline:
    leader = here.pid("leader", session)
    path = f"/proc/{leader}/fd/0"
    with open(path) as terminal:  # noqa: PTH123  # a terminal, and no file
        return pty.discipline(terminal.fileno())


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_what_is_typed_at_the_prompt_is_on_record_key_by_key(
    here: Machine, folder: Path, name: str
) -> None:
    session = shell(here, folder, name)
    client = here.join(session)

    for key in b"echo on record\r":
        client.enter(bytes([key]))

    client.wait_output(b"on record\r\n")
    assert b"echo on record\r" in typed(session)


def test_keys_for_an_editor_reach_it_and_are_judged(
    here: Machine, folder: Path
) -> None:
    """What may not be written down is judged all the same, and an approver sees it."""
    apply_policy(
        '[[rule]]\nname = "ask"\nverdict = "ask"\nkind = "agent"\ninput = "keys"\n'
    )
    session = shell(here, folder, "bash")
    client = here.join(session)
    client.enter(program(folder, RAW).encode() + b"\r")
    client.wait_output(b"ready")
    assert client.request(wire.Drop()) is None
    bot = here.join(session, "bot", ActorKind.AGENT)

    bot.post(CANARY)

    pending = client.wait(wire.Pending)
    assert (pending.excerpt, pending.size) == (CANARY, len(CANARY))
    answer = wire.Approve(pending.ticket, pending.epoch, pending.digest)
    assert client.request(answer) is None
    client.wait_output(b"taken\r\n")
    assert CANARY not in typed(session)
