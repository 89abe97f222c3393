"""Two hosts that can reach nothing but a relay, while everything breaks in turn.

    make relay-check
    python -m tests.scenarios.relay_check --lines 400

Each host runs a build, which prints numbered lines; a client in a third network
follows both. Meanwhile the relay, a host, a holder and the client are killed, and
links are cut. Nothing may be lost or shown twice, and no word of either session
may be found in the relay's memory, its files, or in what passed by it. Exits with
0 if that is so. Needs root.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.scenarios.canaries import canary, files_of, found_in, memory_of
from tests.scenarios.networks import (
    RELAY,
    RELAY_ADDRESS,
    FarPlace,
    Network,
    certificate,
    network,
)
from tests.scenarios.support import eventually

from holdfast.model.session_record import HeldRecord, listed_in
from holdfast.model.session_requests import ListSessions

TAP = (
    "import socket, sys\n"
    "tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))\n"
    "file = open(sys.argv[1], 'wb', buffering=0)\n"
    "while True: file.write(tap.recv(65536))\n"
)
URL = f"https://{RELAY_ADDRESS}"


class Check:
    """Everything that takes part."""

    def __init__(self, nets: Network, lines: int) -> None:
        self.nets = nets
        self.lines = lines
        self.folder = Path(tempfile.mkdtemp(prefix="hf"))
        self.words = [canary() for _ in range(3)]
        self.chain, self.key = certificate(self.folder)
        self.store = self.folder / "store"
        self.store.mkdir()
        self.memories = b""
        self.tap = self._popen(RELAY, "-c", TAP, str(self.folder / "traffic"))
        self.relay = self._start_relay()
        self.hosts = [FarPlace(nets, name, self.chain) for name in ("one", "two")]
        self.client = FarPlace(nets, "client", self.chain)
        self.followers: dict[str, subprocess.Popen[bytes]] = {}

    # ── setting up ────────────────────────────────────────────────────────

    def prepare(self) -> None:
        """Have both hosts build, and the client follow both."""
        word = self.words[0]
        script = (
            f"read go; i=0; while [ $i -lt {self.lines} ]; do i=$((i+1));"
            f' echo "{word} line $i."; sleep 0.05; done; echo the-end'
        )
        for host in self.hosts:
            host.up(URL)
            link = host.invite("--as", self.words[1])
            self.client.do("join", "-", "--name", host.name, said=link)
            host.new("sh", "-c", script, name="build")
            self.client.do("send", f"{host.name}/build", "--enter", self.words[2])
            self.follow(host)

    def follow(self, host: FarPlace) -> None:
        """Follow a host's build from its first line on."""
        words = ("-m", "tests.scenarios.follower", f"{host.name}/build")
        log = (self.folder / f"follower-{host.name}").open("wb")
        self.followers[host.name] = self._popen(
            "client", *words, str(self.lines), place=self.client, out=log.fileno()
        )
        log.close()

    def shown(self, host: FarPlace) -> int:
        """Return how many lines the follower has shown by now."""
        return (self.folder / f"follower-{host.name}").read_bytes().count(b"\n")

    def _start_relay(self) -> "subprocess.Popen[bytes]":
        words = ["-m", "holdfast", "relay", "--listen", f"{RELAY_ADDRESS}:443"]
        words += ["--cert", str(self.chain), "--key", str(self.key)]
        words += ["--store", str(self.store / "leases")]
        log = (self.store / "log").open("ab")
        started = self._popen(RELAY, *words, out=log.fileno())
        log.close()
        return started

    def _popen(
        self, machine: str, *words: str, place: FarPlace | None = None, out: int = -1
    ) -> "subprocess.Popen[bytes]":
        env = {**os.environ, "HOLDFAST_RUNTIME_DIR": str(self.folder / "run")}
        return subprocess.Popen(
            [*self.nets.within(machine), sys.executable, *words],
            env=env | ({} if place is None else place.folders),
            stdout=None if out < 0 else out,
            stderr=None if out < 0 else out,
        )

    # ── what goes wrong ───────────────────────────────────────────────────

    def kill_relay(self) -> None:
        """Kill the relay, look into its memory first, and start another."""
        self.look()
        os.kill(self.relay.pid, signal.SIGKILL)
        self.relay.wait()
        self.relay = self._start_relay()

    def stop_relay(self) -> None:
        """Tell the relay to end, and start another."""
        self.relay.terminate()
        self.relay.wait(30)
        self.relay = self._start_relay()

    def cut_host(self) -> None:
        """Cut a host off without anybody being told, and heal it."""
        self.nets.cut("one")
        time.sleep(2)  # the length of a cut is what is tried here
        self.nets.heal("one")

    def cut_client(self) -> None:
        """Cut the client off, and heal it."""
        self.nets.cut("client")
        time.sleep(2)  # the length of a cut is what is tried here
        self.nets.heal("client")

    def kill_host(self) -> None:
        """Kill a host, and start another."""
        self.hosts[0].kill_host()
        self.hosts[0].do("up", "--detach")

    def kill_holder(self) -> None:
        """Kill the holder of a build."""
        from holdfast.client import keeper  # noqa: PLC0415  # after the folders are set

        with self.hosts[1].inhabited():
            (facts,) = listed_in(keeper.request(ListSessions()))
        os.kill(HeldRecord.from_facts(facts).holder, signal.SIGKILL)

    def kill_client(self) -> None:
        """Kill a client, and follow with another from the beginning."""
        host = self.hosts[0]
        self.followers[host.name].kill()
        self.followers[host.name].wait()
        self.follow(host)

    def look(self) -> None:
        """Keep what the relay has in its memory now."""
        self.memories += memory_of(self.relay.pid)

    # ── the verdict ───────────────────────────────────────────────────────

    def verdict(self) -> list[str]:
        """Return everything that is not as it should be."""
        wrong = []
        for name, follower in self.followers.items():
            if follower.wait(240) != 0:
                wrong.append(f"{name}: lines are missing, or came twice")
        self.look()
        self.tap.terminate()
        self.tap.wait()
        places = {
            "memory": self.memories,
            "files": files_of(self.store),
            "traffic": (self.folder / "traffic").read_bytes(),
        }
        for place, text in places.items():
            wrong += [f"a word is in the {place}" for _ in found_in(text, self.words)]
        if self.hosts[0].status()["host"].encode() not in places["memory"]:
            wrong.append("the memory that was looked at is not the relay's")
        if len(places["traffic"]) < 100_000:  # two builds are more
            wrong.append("nothing was seen to pass")
        return wrong

    def close(self) -> None:
        """End everything."""
        for process in (*self.followers.values(), self.tap, self.relay):
            if process.poll() is None:
                process.kill()
                process.wait()
        for place in (*self.hosts, self.client):
            place.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def main() -> int:
    """Run the check, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=300, help="lines of each build")
    options = parser.parse_args()
    if os.getuid() != 0 or shutil.which("ip") is None:
        print("relay-check needs root and `ip`; nothing was checked")  # noqa: T201
        return 1
    with network("one", "two", "client") as nets:
        check = Check(nets, options.lines)
        try:
            wrong = _run(check)
        finally:
            check.close()
    for line in wrong:
        print(f"WRONG: {line}")  # noqa: T201
    print("relay-check: " + ("failed" if wrong else "nothing lost, nothing seen"))  # noqa: T201
    return 1 if wrong else 0


def _run(check: Check) -> list[str]:
    check.prepare()
    faults = (
        check.kill_relay,
        check.cut_host,
        check.kill_holder,
        check.kill_host,
        check.stop_relay,
        check.cut_client,
        check.kill_client,
    )
    for fault in faults:
        one, two = check.hosts
        before = check.shown(one), check.shown(two)
        began = time.monotonic()
        fault()
        eventually("both go on", lambda seen=before: _goes_on(check, seen))  # type: ignore[misc]
        name = fault.__name__.replace("_", " ")
        print(f"{name}: both followed on after {time.monotonic() - began:.1f} s")  # noqa: T201
    return check.verdict()


def _goes_on(check: Check, before: tuple[int, int]) -> bool:
    """Tell whether both have shown more since, or all there is."""
    now = [check.shown(host) for host in check.hosts]
    return all(
        later > earlier or later >= check.lines
        for later, earlier in zip(now, before, strict=True)
    )


if __name__ == "__main__":
    sys.exit(main())
