"""Two machines, a relay, slow links between them, and sessions to work in.

The first machine is ours: this process acts on it. Its logbooks are on a small disk of
their own, if we may mount one. Both begin dozing soon.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.history import History
from tests.chaos.slow_links import SlowLinks
from tests.scenarios import witness
from tests.scenarios.elsewhere import Place, RelayPlace
from tests.scenarios.movers import let_in
from tests.scenarios.support import PATIENCE, Machine, eventually

from holdfast.linux import packets
from holdfast.linux.criu import program
from holdfast.model.ids import SessionId

DISK = "128m"
SHIM = Path(__file__).parent.parent / "scenarios" / "stepped_clock.c"
TTL = "6"

READER = 'stty -echo; while IFS= read -r x; do printf "%s\\n" "$x" >>"$0"; done'
"""Writes down what it reads, where nothing of ours can add to it."""

PRINTER = """
import os, sys, time
number = 0
while not os.path.exists(sys.argv[1] + ".stop"):
    number += 1
    sys.stdout.write("line-%d\\n" % number)
    sys.stdout.flush()
    time.sleep(0.01)
with open(sys.argv[1], "w") as file:
    file.write(str(number))
print("the end", flush=True)
time.sleep(3600)
"""

COUNTER = """
import os, sys, time
number = 0
while True:
    number += 1
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, b"%d\\n" % number)
    os.close(file)
    time.sleep(0.02)
"""


@dataclass(frozen=True)
class Abilities:
    """What can be injected, and what goes on, on this machine."""

    small_disk: bool
    clock: bool
    capsules: bool

    def lacking(self, kind: str) -> str:
        """Return why a kind of fault cannot be injected here; '' if it can."""
        needs = {
            "fill the disk": (self.small_disk, "only root can mount a small disk"),
            "step the clock": (self.clock, "no C compiler for the shim"),
            "fork bomb": (self.capsules, "no capsules here"),
        }
        can, why = needs.get(kind, (True, ""))
        return "" if can else why


def abilities() -> Abilities:
    """Find out what this machine can do."""
    return Abilities(
        small_disk=os.getuid() == 0,
        clock=shutil.which("cc") is not None,
        capsules=os.getuid() == 0 and program.find().program is not None,
    )


@dataclass
class Stage:
    """Everything that takes part in a run."""

    folder: Path
    history: History
    can: Abilities
    relay: RelayPlace
    links: SlowLinks
    alpha: Place
    beta: Place
    here: Machine = field(default_factory=Machine)
    sessions: dict[str, SessionId] = field(default_factory=dict)

    @property
    def clock_file(self) -> Path:
        """What is in it is added to the wall clock of both machines."""
        return self.folder / "steps"

    @property
    def state(self) -> Path:
        """Where the first machine keeps its logbooks."""
        return Path(self.alpha.folders["HOLDFAST_STATE_DIR"])

    def ask(self, place: Place, **asked: object) -> packets.Packet:
        """Ask a machine's keeper."""
        with packets.connect(Path(place.folder) / "keeper.sock", PATIENCE) as link:
            packets.send(link, asked)
            heard = packets.receive(link)
        if heard is None:
            raise ConnectionResetError("the keeper hung up")
        return heard[0]

    def facts(self, name: str, place: Place | None = None) -> packets.Packet | None:
        """Return what the keeper keeps of one of our sessions."""
        listed = self.ask(place or self.alpha, do="list")["sessions"]
        assert isinstance(listed, list)
        wanted = self.sessions[name]
        return next((one for one in listed if one["id"] == wanted), None)

    def begin(self, name: str, *words: str, exits: int | None = None) -> None:
        """Start a session, and write down that it began."""
        made = self.alpha.facts("new", "--detach", "--name", name, *words)
        self.sessions[name] = SessionId(str(made["id"]))
        self.began(name, exits)

    def began(self, name: str, exits: int | None) -> None:
        """Write down that a session began, and who leads it."""
        found = eventually(f"{name} is listed", lambda: self.facts(name))
        pid = int(str(found["pid"]))
        self.history.note(
            "began",
            session=self.sessions[name],
            name=name,
            pid=pid,
            started=started(pid),
            exits=exits,
        )


def started(pid: int) -> str:
    """Return when a process was started; '' if there is none."""
    return (witness.stat(pid) or [""] * 20)[19]


@contextlib.contextmanager
def stage(history: History, *, moves: bool) -> Iterator[Stage]:
    """Set everything up, and end it with the block."""
    folder = Path(tempfile.mkdtemp(prefix="hfc"))
    links = SlowLinks()
    relay = RelayPlace("--lease-ttl", TTL, "--name", links.name)
    links.target = relay.port
    alpha, beta = Place(), Place()
    made = Stage(folder, history, abilities(), relay, links, alpha, beta)
    try:
        _prepare(made)
        with alpha.inhabited():
            _populate(made, moves=moves)
            yield made
    finally:
        links.close()
        for place in (alpha, beta):
            place.close()
        relay.close()
        if made.can.small_disk:
            subprocess.run(["umount", "-l", made.state], check=False)  # noqa: S607
        shutil.rmtree(alpha.folder, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def _prepare(made: Stage) -> None:
    """Give both machines their disk, their clock and their hosts."""
    made.clock_file.write_text("0")
    if made.can.small_disk:
        made.state.mkdir(mode=0o700)
        options = f"size={DISK},mode=700"
        mount = ["mount", "-t", "tmpfs", "-o", options, "none", str(made.state)]
        subprocess.run(mount, check=True)
    for place in (made.alpha, made.beta):
        place.folders |= {"HOLDFAST_DOZE_AFTER": "1", "SHELL": "/bin/bash"}
        if made.can.clock:
            place.folders |= _clock(made.folder)
        place.up(f"http://{made.links.name}")
    let_in(made.beta, made.alpha, "beta")
    let_in(made.alpha, made.beta, "alpha")
    words = ("--as", "watcher", "--kind", "human", "--can", "observe")
    made.alpha.do("join", made.alpha.invite(*words), "--name", "there")


def _clock(folder: Path) -> dict[str, str]:
    library = folder / "stepped.so"
    if not library.exists():
        compiler = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SHIM)]
        compiler.append("-ldl")
        subprocess.run(compiler, check=True)
    return {"LD_PRELOAD": str(library), "STEPPED_CLOCK": str(folder / "steps")}


def _populate(made: Stage, *, moves: bool) -> None:
    """Start the sessions that are there all the time."""
    for name, text in (("printer", PRINTER), ("counter", COUNTER)):
        (made.folder / f"{name}.py").write_text(text)
    (made.folder / "read").touch()
    (made.folder / "effects").touch()
    python = sys.executable
    made.begin("typed", "--", "sh", "-c", READER, str(made.folder / "read"))
    made.begin("worked")
    words = [python, str(made.folder / "printer.py"), str(made.folder / "printed")]
    made.begin("printed", "--", *words)
    made.begin("idle", "--", "cat")
    if made.can.capsules:
        made.begin("boxed", "--capsule", "--pids", "64")
    if moves and made.can.capsules:
        words = [python, str(made.folder / "counter.py"), str(made.folder / "ticks")]
        made.alpha.facts(
            "new", "--detach", "--movable", "--name", "counted", "--", *words
        )
        listed = json.loads(made.alpha.do("ls", "--json"))["sessions"]
        found = next(one for one in listed if one["name"] == "counted")
        made.sessions["counted"] = SessionId(found["id"])
