"""What runs in a session has no authority over it, whatever it does or is called."""

import base64
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, apply_policy, eventually, machine
from tests.scenarios.typed import is_typed

from holdfast.client import current_operator
from holdfast.core.book.logbook import Entry, recover
from holdfast.linux import processes
from holdfast.linux.stored import operators, places
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedName, OperatorTaken
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

INJECT = """
import fcntl, sys, termios
for key in sys.argv[1].encode() + b"\\n":
    fcntl.ioctl(0, termios.TIOCSTI, bytes([key]))
print("injected", flush=True)
"""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        apply_policy('[default]\nagent = "allow"\n')
        yield made


def can_inject() -> bool:
    """Tell whether this kernel lets a program push keys into its own terminal."""
    try:
        allowed = Path("/proc/sys/dev/tty/legacy_tiocsti").read_text().strip() == "1"
    except FileNotFoundError:
        return True  # Before Linux 6.2 there was no way to forbid it.
    return allowed or os.getuid() == 0


@pytest.mark.skipif(not can_inject(), reason="this kernel forbids TIOCSTI")
def test_t51_keys_that_a_program_pushes_are_nobodys(here: Machine) -> None:
    session = here.new("bash", "--norc", "-i")
    bot = here.join(session, "bot", ActorKind.AGENT)
    bot.who()
    line = f"{sys.executable} -c '{INJECT}' 'echo by-$((6*7))'\r".encode()
    # The line is long, and has newlines: it is pasted, as such lines are.
    assert isinstance(
        bot.enter(b"\x1b[200~" + line[:-1] + b"\x1b[201~\r"), wire.Acknowledge
    )

    bot.wait_output(b"by-42")

    typed = inputs(session)
    assert {entry.fields["actor"] for entry in typed} == {bot.operator.actor.id}
    # Everything that an operator is said to have typed, it has typed.
    claimed = b"".join(base64.b64decode(str(one.fields["data"])) for one in typed)
    assert claimed == b"\x1b[200~" + line[:-1] + b"\x1b[201~\r"


def inputs(session: SessionId) -> list[Entry]:
    raw = places.session_log(session).read_bytes()
    found = recover(raw, session).entries
    return [entry for entry in found if is_typed(entry)]


HOSTILE = [
    "\x1b[31madmin",
    "admin\u202e",
    "ad\u200bmin",
    "\u0430dmin",
    "root\n[holdfast] anna approved request 1",
    "a_" + "a" * 32,
    "s_aaaaaaaaaaaaaaaa",
    "../admin",
    "-rf",
    "",
    "x" * 300,
    "human",
    "agent",
]
"""Names that would pass for somebody else, for an id, or for a word of ours."""

ROLES = ["human", "agent"]


@pytest.mark.parametrize("name", HOSTILE)
def test_t22_h57_a_name_is_refused_or_is_no_more_than_a_name(
    here: Machine, name: str
) -> None:
    session = here.new("cat")
    anna = here.join(session)
    if name not in ROLES:
        with pytest.raises(MalformedName):
            current_operator.enrol(name, ActorKind.AGENT)
        return

    named = here.join(session, name, ActorKind.AGENT)

    assert named.operator.actor.kind is ActorKind.AGENT
    assert named.operator.actor.fingerprint() in shown("who", session)
    anna.request(wire.Take())
    refused = named.request(wire.Seize(wire.Halt.NONE))
    assert refused is not None
    assert refused.code == "not-allowed"


def test_t22_a_name_that_looks_like_one_that_is_taken_is_refused(
    here: Machine,
) -> None:
    current_operator.enrol("deploy", ActorKind.AGENT)

    for twin in ("Deploy", "DEPLOY", "deploy"):
        with pytest.raises(OperatorTaken):
            operators.enrol(twin, ActorKind.HUMAN, bytes(32), None, bytes(32))
    assert here.ask(do="status")["ok"]


def test_t22_a_name_edited_by_hand_is_never_shown_or_believed(here: Machine) -> None:
    bot = current_operator.enrol("bot", ActorKind.AGENT)
    facts = Path(bot.folder) / "operator.json"
    text = facts.read_text()
    session = here.new("cat")
    client = Client(session, bot)
    here.clients.append(client)

    for hostile in ("\\u001b[31mbot", "ad\\u202emin", "root"):
        facts.write_text(text.replace('"name": "bot"', f'"name": "{hostile}"'))
        refused = client.greet()
        assert isinstance(refused, wire.Refuse)
        assert refused.code in {"unknown-operator", "operator-file-damaged"}
        said = shown("operators") + shown("who", session) + shown("log", session)
        assert "\x1b" not in said
        assert "\u202e" not in said


def shown(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        check=False,
        timeout=30,
    )
    return (done.stdout + done.stderr).decode()


def test_t25_a_signal_reaches_the_session_and_nobody_else(
    here: Machine, tmp_path: Path
) -> None:
    marks = [tmp_path / "one", tmp_path / "two"]
    sessions = [here.new("sh", "-c", trapping(mark)) for mark in marks]
    one, two = (here.join(session) for session in sessions)
    one.wait_output(b"ready")
    two.wait_output(b"ready")
    third = ["/bin/sh", "-c", trapping(tmp_path / "three")]
    with subprocess.Popen(third) as bystander:
        one.post(str(signal.SIGUSR1.value).encode(), InputKind.SIGNAL)

        assert isinstance(one.settle(), wire.Acknowledge)
        eventually("it is told", marks[0].exists)
        two.enter(b"\r")
        assert not marks[1].exists()
        assert not (tmp_path / "three").exists()
        assert bystander.poll() is None
        bystander.kill()


def trapping(mark: Path) -> str:
    return f"trap 'touch {mark}' USR1; echo ready; while :; do sleep 0.01; done"


def test_t25_a_signal_after_the_end_is_refused(here: Machine) -> None:
    session = here.new("sh", "-c", "echo ready; read line")
    anna = here.join(session)
    anna.wait_output(b"ready")
    anna.enter(b"\r")
    anna.wait(wire.Exited)

    anna.post(b"9", InputKind.SIGNAL)

    refused = anna.settle()
    assert isinstance(refused, wire.Refuse)
    assert refused.code == "session-over"


LAST_PID = Path("/proc/sys/kernel/ns_last_pid")


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sleep", "100"], start_new_session=True)


def recycled() -> tuple[int, subprocess.Popen[bytes]]:
    """Return a pidfd of a process that is gone, and another with its number."""
    for _ in range(200):
        first = sleeper()
        pidfd = os.pidfd_open(first.pid)
        first.kill()
        first.wait()
        LAST_PID.write_text(str(first.pid - 1))
        second = sleeper()
        if second.pid == first.pid:
            return pidfd, second
        second.kill()  # Somebody else was faster, and has the number.
        second.wait()
        os.close(pidfd)
    pytest.skip("numbers cannot be had back on this machine")


@pytest.mark.skipif(
    not os.access(LAST_PID, os.W_OK), reason="only root can have a number back"
)
def test_t25_a_number_that_has_passed_to_another_process_gets_no_signal() -> None:
    pidfd, other = recycled()

    processes.signal_group(pidfd, other.pid, signal.SIGKILL)

    # Whatever it had been sent would be there before this is.
    other.send_signal(signal.SIGTERM)
    assert other.wait(10) == -signal.SIGTERM
    os.close(pidfd)
