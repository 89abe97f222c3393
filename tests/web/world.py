"""A machine whose host runs a relay of its own, which serves the page."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.scenarios.elsewhere import Place
from tests.scenarios.support import PATIENCE, eventually

import holdfast

PROMPT = r"""
PS1='\[\e]0;anna@atlas: \w\a\e[1;32m\]anna@atlas\[\e[0m\]:\[\e[34m\]\w\[\e[0m\]$ '
"""
"""As Debian has it: the folder by its short name, in the title too."""


class World(Place):
    """The machine, its page, and what other operators do there meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        Path(self.folders["HOLDFAST_CONFIG_DIR"]).mkdir(mode=0o700)
        # Not where our own folders are, which no capsule sees.
        home = Path(tempfile.mkdtemp(prefix="hf-home"))
        (home / ".bashrc").write_text("PS1='$ '\n")
        self.folders["HOME"] = os.fspath(home)
        self.up()
        self.url = str(self.status()["links"][0]["relay"])

    def close(self) -> None:
        """End everything that runs there, and remove it."""
        super().close()
        shutil.rmtree(self.folders["HOME"], ignore_errors=True)

    def furnish_shop(self) -> Path:
        """Have a folder and a prompt that tell nothing of this machine; return it."""
        home = Path(self.folders["HOME"])
        self.folders |= {"PATH": f"{home}/bin:/usr/bin:/bin", "SHELL": "/bin/bash"}
        # Nor must it show that a make started us, which another one would say.
        self.folders |= {"MAKEFLAGS": "", "MAKELEVEL": "0"}
        (home / ".bashrc").write_text(PROMPT)
        (home / "bin").mkdir()
        shop = home / "shop"
        shop.mkdir()
        (shop / "Makefile").write_text("all:\n\t@python3 build.py\n")
        return shop

    def new(self, *command: str, name: str = "web") -> str:
        """Start a session; return its id."""
        # Not by the command line, whose start takes longer than all the rest.
        with self.inhabited(), holdfast.sync.connect() as host:
            return host.create(command, name=name).id

    def end(self, *names: str) -> None:
        """End sessions."""
        with self.inhabited(), holdfast.sync.connect() as host:
            for name in names:
                host.attach(name).end()

    def end_all(self) -> None:
        """End whatever lives, and forget what has lived."""
        with self.inhabited(), holdfast.sync.connect() as host:
            for one in host.sessions():
                host.attach(one.id).end(signal.SIGKILL)

    def shell(self, name: str) -> str:
        """Start a shell with a prompt that tests know; return its id."""
        with self.inhabited(), holdfast.sync.connect() as host:
            made = host.create(("bash",), name=name)
            with made:
                made.wait_prompt(PATIENCE)
            return made.id

    def shows(self, name: str, text: str) -> bool:
        """Tell whether a session's screen shows a text."""
        return text in self.run("screen", name).stdout  # A painter may be late.

    def types(self, name: str, line: str) -> None:
        """Have the login user type a line, and let the turn go again."""
        self.do("send", "--enter", name, line)
        self.run("drop", name)

    def asks(
        self, name: str, line: str, verb: str = "run", agent: str = "robo"
    ) -> "subprocess.Popen[bytes]":
        """Have an agent run a command, which may take until somebody decides."""
        return subprocess.Popen(
            self.command("--as", agent, verb, name, line),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **self.folders},
        )

    def policy(self, text: str) -> None:
        """Have a policy hold from now on."""
        path = Path(self.folders["HOLDFAST_CONFIG_DIR"]) / "policy.toml"
        draft = path.with_suffix(".new")
        draft.write_text(text)
        draft.replace(path)
        self.do("gate", "apply", "--yes")

    def kill_relay(self) -> None:
        """Kill the relay as nothing can be killed harder; its host starts another."""
        os.kill(eventually("a relay", lambda: self.status()["relay"]), signal.SIGKILL)


@contextlib.contextmanager
def world() -> Iterator[World]:
    """Return a machine that is ended when the block is."""
    made = World()
    try:
        yield made
    finally:
        made.close()
