"""A judge with plug-ins of any behaviour, as a process that tests can ask."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from holdfast.linux.judge_packets import MAX_PACKET, Answer, Ask

ROOT = Path(__file__).parents[2]

PLUGINS = """
import os, subprocess, sys, time

def allows(question):
    return "allow"

def asks(question):
    return {"verdict": "ask", "rule": "careful", "why": "who knows"}

def denies(question):
    return "deny"

def abstains(question):
    return None

def changes(question):
    question["actor"]["kind"] = "human"
    question.clear()
    return None

def reads(question):
    return "allow" if question["actor"]["kind"] == "agent" else "deny"

def raises(question):
    raise ValueError("no")

def exits(question):
    sys.exit(0)

def dies(question):
    os._exit(0)

def truthy(question):
    return True

def yes(question):
    return "yes"

def odd(question):
    return {"verdict": "allow", "until": 3}

def hangs(question):
    with open(question["where"], "w") as file:
        child = subprocess.Popen(["sleep", "600"])
        file.write(f"{os.getpid()} {child.pid}")
    time.sleep(600)

def scribbles(question):
    for fd in range(3, 60):
        try:
            os.write(fd, b"nonsense")
        except OSError:
            pass
    return "allow"

nothing = 1
"""

NAMES = (
    "allows asks denies abstains changes reads raises exits dies truthy yes odd hangs"
    " scribbles nothing"
)


def install(folder: Path) -> None:
    """Put the plug-ins where an interpreter finds them, as an installer would."""
    (folder / "some_plugins.py").write_text(PLUGINS)
    described = folder / "some_plugins-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: some-plugins\nVersion: 1.0\n"
    )
    points = "".join(f"{name} = some_plugins:{name}\n" for name in NAMES.split(" "))
    broken = "missing = some_plugins:missing\n"
    (described / "entry_points.txt").write_text(f"[holdfast.policy]\n{points}{broken}")


@contextlib.contextmanager
def running(folder: Path) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Run a judge; yield where it listens, and the process."""
    install(folder)
    path = folder / "judge.sock"
    program = (
        f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}, {str(folder)!r}];"
        "from holdfast.judge.main import main; sys.exit(main())"
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen(64)
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", program], stdin=listener.fileno()
        )
    try:
        yield path, process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def linked(path: Path) -> Iterator["Link"]:
    """Connect to a judge."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as made:
        made.settimeout(30)
        made.connect(str(path))
        yield Link(made)


class Link:
    """One holder's connection."""

    def __init__(self, made: socket.socket) -> None:
        self.socket = made

    def send(self, ask: Ask) -> None:
        self.socket.send(ask.to_bytes())

    def receive(self) -> Answer:
        return Answer.from_bytes(self.socket.recv(MAX_PACKET))

    def ask(self, *plugins: str, timeout: float = 1.75, ticket: int = 7) -> Answer:
        question: dict[str, object] = {"actor": {"kind": "agent"}}
        self.send(Ask(ticket, question, plugins, timeout=timeout))
        return self.receive()
