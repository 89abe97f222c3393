"""A 12: real programs that ask are known to wait, within a second; others are not.

Which program asks what is never told by its text: every one of them prints its
question in words of its own, and some of the busy ones print the word password.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.client import calls
from holdfast.model.ids import SessionId
from holdfast.wire.evidence import Evidence

IN_TIME = 1.0
"""Seconds after its question was printed in which a program is known to wait."""

SECRET, INPUT = "waiting-for-secret", "waiting-for-input"

SUDO = "sudo -k -p 'ask''ed: ' true"
if os.geteuid() == 0:  # Nobody asks root, so somebody else asks.
    SUDO = f"setpriv --reuid=65534 --regid=65534 --clear-groups {SUDO}"

BUSY = {
    "a busy loop": f"{sys.executable} -c 'while True: pass'",
    "prose": "echo Password:; sleep 99",
    "prose without a line end": "printf 'ask''ed: password: '; sleep 99",
    "silence": "sleep 99",
    "a compile": "sh -c 'while :; do echo cc -c password.c; : $(seq 2000); done'",
    "a pipe": "sleep 99 | cat",
    "its own echo off": "stty -echo; sleep 99",
    "a program that reads a file": "tail -f /dev/null",
}


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def begun(here: Machine, line: str) -> tuple[SessionId, Client]:
    session = here.new("bash", "--norc", "-i")
    eventually("a prompt", lambda: calls.state(session).state == "at-prompt")
    client = here.join(session)
    client.enter(f"printf 'be''gun\\n'; {line}\r".encode())
    client.wait_output(b"begun\r\n")
    return session, client


def in_time(session: SessionId, word: str) -> Evidence:
    """Return what is seen, which must be this within the time there is."""
    asked_at = time.monotonic()
    while True:
        seen = calls.state(session)
        if seen.state == word:
            return seen
        assert time.monotonic() - asked_at < IN_TIME, seen


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}")


def test_a12_sudo_waits_for_a_secret(here: Machine) -> None:
    needs("sudo", "setpriv")
    session, client = begun(here, SUDO)
    client.wait_output(b"asked: ")

    in_time(session, SECRET)


def test_a12_a_dialog_waits_for_input(here: Machine) -> None:
    needs("dialog")
    session, client = begun(here, "TERM=xterm dialog --yesno 'ask''ed' 6 30")
    client.wait_output(b"asked")

    in_time(session, INPUT)


def test_a12_a_key_s_passphrase_is_a_secret(here: Machine, tmp_path: Path) -> None:
    needs("ssh-keygen")
    key = str(tmp_path / "key")
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "word", "-f", key]
    subprocess.run(command, check=True)
    session, client = begun(here, f"ssh-keygen -y -f {key}")
    client.wait_output(b"passphrase")

    in_time(session, SECRET)


def answers(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port)):
        return True


@pytest.fixture
def ssh_port(tmp_path: Path) -> Iterator[int]:
    """Run a server of our own that asks everybody for a password."""
    needs("ssh", "ssh-keygen")
    server = shutil.which("sshd") or "/usr/sbin/sshd"
    if not Path(server).exists() or os.geteuid() != 0:
        pytest.skip("no sshd that we may run")
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # Else it does not start.
    key = str(tmp_path / "host")
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]
    subprocess.run(command, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    options = {
        "HostKey": key,
        "ListenAddress": "127.0.0.1",
        "PidFile": "none",
        "UsePAM": "no",
        "PasswordAuthentication": "yes",
        "PermitRootLogin": "yes",
    }
    words = [
        word for name, value in options.items() for word in ("-o", f"{name}={value}")
    ]
    running = subprocess.Popen(
        [server, "-D", "-f", "/dev/null", "-p", str(port), *words],
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually("it listens", lambda: answers(port))
        yield port
    finally:
        running.kill()
        running.wait()


def test_a12_ssh_asks_about_a_key_and_then_for_a_password(
    here: Machine, ssh_port: int, tmp_path: Path
) -> None:
    line = (
        f"ssh -F /dev/null -o UserKnownHostsFile={tmp_path}/known -p {ssh_port}"
        " -o PubkeyAuthentication=no nobody@127.0.0.1"
    )
    session, client = begun(here, line)
    client.wait_output(b"(yes/no")
    in_time(session, INPUT)

    client.enter(b"yes\r")
    client.wait_output(b"password: ")
    in_time(session, SECRET)


@pytest.mark.parametrize("line", BUSY.values(), ids=BUSY.keys())
def test_a12_what_works_or_sleeps_is_not_taken_for_asking(
    here: Machine, line: str
) -> None:
    session, client = begun(here, line)

    # As often as it takes to see it in every phase of what it does.
    seen = {calls.state(session).state for _ in range(100)}
    assert seen == {"running"}
    client.close()
