"""The same work through holdfast, tmux and a bare terminal, in one run.

    make bench

Prints each figure beside its budget, as a ratio wherever a ratio exists: these
machines are shared, and only ratios of one run mean much.
"""

import contextlib
import os
import pty
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.scenarios.support import Client, Machine, machine

MEGABYTES = 64
KEYS = 200
IDLE = 20
RUNS = 3


def main() -> int:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as folder, machine() as here:
        text = Path(folder) / "text"
        line = b"The quick brown fox jumps over the lazy dog, and back again.\n"
        text.write_bytes(line * (MEGABYTES * 1_000_000 // len(line)))
        tmux = Tmux(Path(folder)) if shutil.which("tmux") else None
        _throughput(here, tmux, text)
        _echo(here, tmux)
        _birth_and_weight(here)
        _recovery(here)
        if tmux is not None:
            tmux.close()
    return 0


class Tmux:
    """A tmux server of our own."""

    def __init__(self, folder: Path) -> None:
        self._base = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux.sock")]
        self.run("new-session", "-d", "-s", "keep", "sleep 10000")

    def run(self, *words: str) -> str:
        """Run one tmux command."""
        done = subprocess.run(  # noqa: S603  # our own words
            [*self._base, *words], capture_output=True, text=True, check=False
        )
        return done.stdout

    def attach(self, name: str) -> tuple[int, int]:
        """Attach in a terminal of our own; return pid and master."""
        pid, master = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execvp("tmux", [*self._base, "attach", "-t", name])  # noqa: S606, S607
        return pid, master

    def close(self) -> None:
        """End the server."""
        self.run("kill-server")


def _best(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(RUNS))


def _row(what: str, figure: float, unit: str, budget: str) -> None:
    print(f"{what:<46} {figure:>10.2f} {unit:<8} {budget}", flush=True)


# ── output ────────────────────────────────────────────────────────────────────


def _throughput(here: Machine, tmux: Tmux | None, text: Path) -> None:
    bare = MEGABYTES / _best(lambda: _bare(text))
    detached = MEGABYTES / _best(lambda: _held_detached(here, text))
    attached = MEGABYTES / _best(lambda: _held_attached(here, text))
    _row("output, bare terminal read by Python", bare, "MB/s", "")
    _row("output, holdfast, nobody attached", detached, "MB/s", "")
    _row("output, holdfast, one attached", attached, "MB/s", "")
    _row("  of a bare terminal", attached / bare, "x", ">= 0.8")
    if tmux is not None:
        theirs = MEGABYTES / _best(lambda: _tmux_detached(tmux, text))
        seen = MEGABYTES / _best(lambda: _tmux_attached(tmux, text))
        _row("output, tmux, nobody attached", theirs, "MB/s", "")
        _row("output, tmux, one attached", seen, "MB/s", "")
        _row("holdfast / tmux, nobody attached", detached / theirs, "x", ">= 2")
        _row("holdfast / tmux, one attached", attached / seen, "x", ">= 2")


def _bare(text: Path) -> float:
    began = time.perf_counter()
    pid, master = pty.fork()
    if pid == 0:
        os.execvp("cat", ["cat", str(text)])  # noqa: S606, S607
    with contextlib.suppress(OSError):
        while os.read(master, 65536):
            pass
    os.waitpid(pid, 0)
    os.close(master)
    return time.perf_counter() - began


def _held_detached(here: Machine, text: Path) -> float:
    began = time.perf_counter()
    session = here.new("cat", str(text))
    while (facts := here.facts(session)) is not None and facts["state"] == "running":
        time.sleep(0.002)
    return time.perf_counter() - began


def _held_attached(here: Machine, text: Path) -> float:
    session = here.new("sh", "-c", f"read go; cat {text}; echo THE-END; read stay")
    client = here.join(session)
    began = time.perf_counter()
    client.enter(b"go\r")
    _drain(client, b"THE-END")
    spent = time.perf_counter() - began
    client.close()
    return spent


def _drain(client: Client, mark: bytes) -> None:
    """Read without keeping: what a terminal does."""
    tail = b""
    while mark not in tail:
        client.output = b""
        client._receive(5)  # noqa: SLF001  # the hot loop of a client
        tail = tail[-64:] + client.output


def _tmux_detached(tmux: Tmux, text: Path) -> float:
    began = time.perf_counter()
    tmux.run("new-session", "-d", "-s", "d", f"cat {text}")
    while "d:" in tmux.run("list-sessions"):
        time.sleep(0.002)
    return time.perf_counter() - began


def _tmux_attached(tmux: Tmux, text: Path) -> float:
    tmux.run(
        "new-session", "-d", "-s", "a", f"read go; cat {text}; echo THE-END; read x"
    )
    pid, master = tmux.attach("a")
    _until(master, b"", 0.3)
    began = time.perf_counter()
    os.write(master, b"go\r")
    _until(master, b"THE-END", 120)
    spent = time.perf_counter() - began
    tmux.run("kill-session", "-t", "a")
    os.close(master)
    os.waitpid(pid, 0)
    return spent


def _until(master: int, mark: bytes, timeout: float) -> None:
    tail, deadline = b"", time.perf_counter() + timeout
    while time.perf_counter() < deadline:
        ready, _, _ = select.select([master], [], [], 0.05)
        if ready:
            tail = tail[-64:] + os.read(master, 65536)
            if mark and mark in tail:
                return


# ── echo ──────────────────────────────────────────────────────────────────────


def _echo(here: Machine, tmux: Tmux | None) -> None:
    client = here.join(here.new("cat"))
    client.enter(b"x")
    ours = []
    for number in range(KEYS):
        key = b"abcdefgh"[number % 8 : number % 8 + 1]
        client.output = b""
        began = time.perf_counter()
        client.post(key)
        while key not in client.output:
            client._receive(5)  # noqa: SLF001  # the hot loop of a client
        ours.append(time.perf_counter() - began)
        client.settle()
    median = statistics.median(ours) * 1e3
    _row("echo of a key, holdfast, p50", median, "ms", "")
    if tmux is None:
        return
    tmux.run("new-session", "-d", "-s", "e", "cat")
    pid, master = tmux.attach("e")
    _until(master, b"", 0.3)
    theirs = []
    for number in range(KEYS):
        key = b"abcdefgh"[number % 8 : number % 8 + 1]
        began = time.perf_counter()
        os.write(master, key)
        _until(master, key, 5)
        theirs.append(time.perf_counter() - began)
    tmux.run("kill-session", "-t", "e")
    os.close(master)
    os.waitpid(pid, 0)
    other = statistics.median(theirs) * 1e3
    _row("echo of a key, tmux, p50", other, "ms", "")
    _row("holdfast / tmux, echo", median / other, "x", "<= 1.5")


# ── birth, weight, recovery ───────────────────────────────────────────────────


def _birth_and_weight(here: Machine) -> None:
    births, sessions = [], []
    for _ in range(IDLE):
        began = time.perf_counter()
        sessions.append(here.new("sleep", "10000"))
        births.append(time.perf_counter() - began)
    _row("a session made, keeper up, p50", statistics.median(births) * 1e3, "ms", "")
    weights = [_pss(here.pid("holder", session)) for session in sessions]
    _row("memory of an idle holder, PSS", statistics.mean(weights), "MiB", "<= 1.5")


def _pss(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _recovery(here: Machine) -> None:
    session = here.new("cat")
    client = here.join(session)
    times = []
    for _ in range(20):
        here.kill("holder", session)
        began = time.perf_counter()
        client.attach()
        times.append(time.perf_counter() - began)
        time.sleep(0.2)
    times.sort()
    _row("holder killed, attached again, worst of 20", times[-1] * 1e3, "ms", "<= 500")


if __name__ == "__main__":
    sys.exit(main())
