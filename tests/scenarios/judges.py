"""Plug-ins and a policy engine of every behaviour, for a machine of its own."""

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from tests.scenarios.support import Client, Machine, apply_policy, eventually

from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

PLUGINS = """
import os, pathlib, signal, sys, time

HERE = pathlib.Path(__file__).parent.parent

def allows(question):
    return "allow"

def denies(question):
    return {"verdict": "deny", "rule": "no-bots", "why": "not in this house"}

def asks(question):
    return {"verdict": "ask", "rule": "careful"}

def abstains(question):
    return None

def notes(question):
    (HERE / "asked").write_text("yes")
    return "allow"

def changes(question):
    question["actor"]["kind"] = "human"
    question["payload"] = question["text"] = "rm -rf"
    question.clear()
    return None

def reads(question):
    kind, text = question["actor"]["kind"], question["text"]
    return "allow" if (kind, text) == ("agent", "echo fine") else "deny"

def sleeps(question):
    (HERE / question["session"]["id"]).write_text(str(os.getpid()))
    time.sleep(600)

def sleeps_once(question):
    if (HERE / question["session"]["id"]).exists():
        return "allow"
    sleeps(question)

def raises(question):
    raise ValueError("no")

def exits(question):
    sys.exit(0)

def truthy(question):
    return True

def dies(question):
    os.kill(os.getpid(), signal.SIGKILL)

def kills(question):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)
"""

NAMES = (
    "allows denies asks abstains notes changes reads sleeps sleeps_once raises exits"
    " truthy dies kills"
)


def install_plugins(folder: Path | None = None) -> Path:
    """Put the plug-ins beside the policy, as `pip install --target` would."""
    folder = folder or places.plugin_dir()
    described = folder / "some_plugins-1.0.dist-info"
    described.mkdir(parents=True)
    (folder / "some_plugins.py").write_text(PLUGINS)
    (described / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: some-plugins\nVersion: 1.0\n"
    )
    points = "".join(f"{name} = some_plugins:{name}\n" for name in NAMES.split())
    (described / "entry_points.txt").write_text(f"[holdfast.policy]\n{points}")
    return folder


def write_policy(text: str) -> None:
    """Put a policy in force for the next input."""
    apply_policy(text)


def use(*names: str) -> None:
    """Have these plug-ins asked, and no rule of the file."""
    write_policy(f"[plugins]\nuse = {json.dumps(names)}\n")


def ask_at(url: str, timeout: float = 1) -> None:
    """Have a webhook asked, and no rule of the file."""
    write_policy(f'[webhook]\nurl = "{url}"\ntimeout = {timeout}\n')


def shell(here: Machine) -> tuple[SessionId, Client, Client]:
    """Return a session, an agent and a human who are attached to it."""
    session = here.new("bash", "--norc", "-i")
    return session, here.join(session, "bot", ActorKind.AGENT), here.join(session)


def command(client: Client, text: bytes) -> object:
    """Enter a command and return what became of it."""
    client.post(text, InputKind.COMMAND)
    return client.settle()


def refused(client: Client, text: bytes = b"echo refused\r") -> wire.Refuse:
    """Enter a command that must be refused, and return how."""
    answer = command(client, text)
    assert isinstance(answer, wire.Refuse), answer
    return answer


def judge_pid(here: Machine) -> int:
    """Return the judge that the keeper knows of, or 0."""
    found = here.ask(do="status")["judge"]
    assert isinstance(found, int)
    return found


def wait_asleep(session: SessionId) -> int:
    """Wait until a plug-in sleeps over a session, and return in which process."""
    path = places.config_dir() / session
    return int(eventually("a plug-in sleeps", path.read_text))


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rsplit(") ", 1)[1][0] == "Z"


ANSWERS: dict[str, tuple[int, bytes]] = {
    "/allow": (200, b'"allow"'),
    "/deny": (200, b'{"verdict": "deny", "rule": "night", "why": "it is late"}'),
    "/opa-allow": (200, b'{"result": {"verdict": "allow", "rule": "day"}}'),
    "/opa-undefined": (200, b"{}"),
    "/garbage": (200, b"<html>allow</html>"),
    "/error": (500, b'"allow"'),
    "/redirect": (302, b'"allow"'),
    "/huge": (200, b'"allow"' + b" " * 1_000_000),
}


class Engine(http.server.ThreadingHTTPServer):
    """A policy engine on this machine, and the questions it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.heard: list[tuple[str, dict[str, object]]] = []
        self.is_released = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Asked(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        engine = cast("Engine", self.server)
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        engine.heard.append((self.path, question["input"]))
        if self.path == "/slow":
            engine.is_released.wait()
        status, body = ANSWERS.get(self.path, (200, b'"allow"'))
        # Whoever asked may be gone, or may not want all of it.
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Location", "/allow")
            self.end_headers()
            self.wfile.write(body)

    def do_GET(self) -> None:
        cast("Engine", self.server).heard.append((self.path, {}))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'"allow"')

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def running_engine() -> Iterator[Engine]:
    """Run a policy engine."""
    with Engine() as engine:
        thread = threading.Thread(target=engine.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield engine
        finally:
            engine.is_released.set()
            engine.shutdown()
            thread.join()
