"""Two machines on one: each with folders of its own, and a relay between them."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.scenarios.leftovers import end_everything
from tests.scenarios.support import eventually

Facts = dict[str, Any]


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


class Place:
    """One machine: its folders, and the command line run on it."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="hf")
        self.folders = {
            "HOLDFAST_RUNTIME_DIR": self.folder,
            "HOLDFAST_CONFIG_DIR": f"{self.folder}/config",
            "HOLDFAST_STATE_DIR": f"{self.folder}/state",
        }

    def command(self, *words: str) -> list[str]:
        """Return the words that run a verb."""
        return [sys.executable, "-m", "holdfast", *words]

    def run(self, *words: str, said: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a verb to its end."""
        return subprocess.run(
            self.command(*words),
            input=said,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={**os.environ, **self.folders},
        )

    def do(self, *words: str, said: str = "") -> str:
        """Run a verb that must succeed; return what it printed."""
        done = self.run(*words, said=said)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def facts(self, *words: str, said: str = "") -> Facts:
        """Run a verb that must succeed; return the facts that it printed."""
        verb, *rest = words
        found: Facts = json.loads(self.do(verb, "--json", *rest, said=said))
        return found

    def status(self) -> Facts:
        """Return what the host says of itself; nothing if there is none."""
        return self.facts("status")["host"] or {}

    def up(self, *relays: str) -> None:
        """Start the host, and wait until it can be reached by its relays."""
        words = [word for relay in relays for word in ("--relay", relay)]
        self.do("up", "--detach", *words)
        eventually("the host is linked", self.is_linked)

    def is_linked(self) -> bool:
        """Tell whether every link of the host is up."""
        links = self.status().get("links") or []
        return bool(links) and all(link["up"] for link in links)

    def kill_host(self) -> None:
        """Kill the host as nothing can be killed harder."""
        os.kill(self.status()["pid"], signal.SIGKILL)

    def invite(self, *words: str) -> str:
        """Return the link of a new invitation."""
        link: str = self.facts("invite", *words)["link"]
        return link

    def new(self, *command: str, name: str = "web") -> str:
        """Start a session; return its id."""
        made = self.facts("new", "--detach", "--name", name, "--", *command)
        return str(made["id"])

    @contextlib.contextmanager
    def inhabited(self) -> Iterator[None]:
        """Have this process act as if it ran on that machine."""
        before = {name: os.environ.get(name) for name in self.folders}
        os.environ.update(self.folders)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def close(self) -> None:
        """End everything that runs there, and remove it."""
        end_everything(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


class RelayPlace:
    """A relay's process at a port of its own, which can be killed and come back."""

    def __init__(self, *options: str) -> None:
        self.options = options
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = tempfile.mkdtemp(prefix="hf")
        self.log = Path(self.folder) / "relay.log"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it can be dialled."""
        words = [
            "relay",
            "--listen",
            f"127.0.0.1:{self.port}",
            "--plain",
            *self.options,
        ]
        store = f"{self.folder}/leases"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "holdfast", *words, "--store", store],
                stderr=log,
                env={**os.environ, "HOLDFAST_RUNTIME_DIR": self.folder},
            )
        eventually("the relay listens", self._answers)

    def kill(self) -> None:
        """Kill it as nothing can be killed harder."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End it, and remove what it has written."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), 1):
            return True


@contextlib.contextmanager
def places(count: int = 2, kind: type[Place] = Place) -> Iterator[tuple[Place, ...]]:
    """Return machines that are ended when the block is."""
    made = tuple(kind() for _ in range(count))
    try:
        yield made
    finally:
        for place in made:
            place.close()


@contextlib.contextmanager
def relay(*options: str) -> Iterator[RelayPlace]:
    """Return a relay that is ended when the block is."""
    made = RelayPlace(*options)
    try:
        yield made
    finally:
        made.close()
