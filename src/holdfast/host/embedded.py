"""The host's own relay on loopback, so that one machine needs no other.

It is a process of its own, because the host never listens (T12), and it ends with
the host. Its port is chosen once and written down, so that links made before a
restart lead there after it as well. It takes this host and no other.
"""

import asyncio
import contextlib
import os
import socket
import sys
from pathlib import Path

from holdfast.host.kept_process import KeptProcess
from holdfast.linux.stored import folders
from holdfast.linux.stored.webpage import built_page
from holdfast.model.ids import HostId

ADDRESS = "127.0.0.1"


class EmbeddedRelay:
    """The relay's process, started again whenever it ends."""

    def __init__(self, host: HostId) -> None:
        self._host = host
        self._port = 0
        self._task: asyncio.Task[None] | None = None
        self._process = KeptProcess("relay", self._command)

    @property
    def pid(self) -> int:
        """The relay's pid; 0 while it does not run."""
        return self._process.pid

    def start(self, group: asyncio.TaskGroup) -> str:
        """See that it runs for as long as we do; return where it can be reached."""
        if self._task is None:
            self._port = _chosen_port()
            self._task = group.create_task(self._process.run())
        return f"http://{ADDRESS}:{self._port}"

    def stop(self) -> None:
        """Let it run no longer."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _command(self) -> list[str]:
        listen = f"{ADDRESS}:{self._port}"
        words = [sys.executable, "-P", "-m", "holdfast", "relay", "--listen", listen]
        page = built_page()
        web = ["--web", os.fspath(page)] if page is not None else []
        return [*words, "--plain", "--only-host", self._host, *web]


def _chosen_port() -> int:
    """Return the port that was chosen before, if it is free; else a new one."""
    path = Path(folders.owned(folders.state_path())) / "relay.port"
    port = 0
    with contextlib.suppress(OSError, ValueError):
        port = int(path.read_text()[:8])
    port = _free_port(port) or _free_port(0)
    draft = path.with_name(f".relay.port.{os.getpid()}")
    draft.write_text(f"{port}\n")
    draft.rename(path)
    return port


def _free_port(wanted: int) -> int:
    """Return a port that nobody listens at; 0 if the wanted one is taken."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((ADDRESS, wanted))
        except (OSError, OverflowError):
            return 0
        return int(trial.getsockname()[1])
