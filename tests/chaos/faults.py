"""How faults are done to real processes, and undone.

A promise has limits: any two of our processes may die at once, and the session lives.
So before a process dies or stands still, those that died before are waited for.
What is no death (a full disk, a slow network) goes on meanwhile.
"""

import contextlib
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.chaos.schedule import Fault
from tests.chaos.stage import Stage, started
from tests.scenarios import witness

from holdfast.linux import packets

CALM = 15.0
"""Seconds in which everything that was killed is to be replaced."""

HOUR = 3600

DEADLY = ("kill", "kill both", "stop")

BOMB = (
    "import os, time\n"
    "made = 0\n"
    "try:\n"
    "    while made < 500:\n"
    "        if os.fork() == 0: time.sleep(%s); os._exit(0)\n"
    "        made += 1\n"
    "except OSError: pass\n"
    "print('forked', made)\n"
)


class Injector:
    """Injects the faults of a schedule, one after another, and notes each."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._undoing: list[threading.Thread] = []

    def run(self, faults: list[Fault]) -> None:
        """Inject each at its time, or as soon as the one before it allows."""
        began = time.monotonic()
        for fault in faults:
            time.sleep(max(began + fault.at - time.monotonic(), 0))
            self._inject(fault)
        for thread in self._undoing:
            thread.join()

    def _inject(self, fault: Fault) -> None:
        why = self._stage.can.lacking(fault.kind)
        if not why and fault.kind in DEADLY:
            self.wait_calm()
        did = ""
        if not why:
            try:
                did = self._do(fault)
            except (OSError, KeyError, AssertionError) as error:
                why = f"there was nobody: {error}"
        self._stage.history.note(
            "fault",
            kind=fault.kind,
            victim=fault.victim,
            seconds=fault.seconds,
            did=did,
            skipped=why,
        )

    def _do(self, fault: Fault) -> str:
        match fault.kind:
            case "kill" | "kill both":
                return self._kill(*fault.victim.split(" and "))
            case "stop":
                return self._stop(fault)
            case "exhaust descriptors of":
                return self._starve(fault)
            case "step the clock":
                step = HOUR if "forward" in fault.victim else -HOUR
                return self._step(step, fault.seconds)
            case "fill the disk" | "fork bomb":
                do = self._fill if fault.kind == "fill the disk" else self._bomb
                return do(fault.seconds)
            case _:
                return self._network(fault)

    # ── processes ─────────────────────────────────────────────────────────

    def pid(self, victim: str) -> int:
        """Return the pid of a living victim.

        Raises:
            ProcessLookupError: There is none now.

        """
        stage = self._stage
        if victim == "relay":
            return stage.relay.process.pid
        place = stage.beta if victim.endswith("of beta") else stage.alpha
        if victim.startswith("holder of "):
            facts = stage.facts(victim.removeprefix("holder of ")) or {}
            found = facts.get("holder")
        else:
            if victim == "painter":
                _knock(Path(place.folder) / "painter.sock")
            word = victim.removesuffix(" of beta")
            status = stage.ask(place, do="status")
            found = status["pid" if word == "keeper" else word]
        if not isinstance(found, int) or found <= 0 or witness.is_dead(found):
            raise ProcessLookupError(f"no {victim}")
        return found

    def _kill(self, *victims: str) -> str:
        pids = [self.pid(one) for one in victims]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        if "relay" in victims:
            self._stage.relay.kill()
            self._stage.relay.start()
        return f"killed {pids}"

    def _stop(self, fault: Fault) -> str:
        pid = self.pid(fault.victim)
        mark = started(pid)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(fault.seconds)
        if started(pid) == mark:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
            return f"{pid} stood still"
        return f"{pid} stood still, and was replaced"

    def _starve(self, fault: Fault) -> str:
        pid = self.pid(fault.victim)
        mark, before = started(pid), resource.prlimit(pid, resource.RLIMIT_NOFILE)
        open_now = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (open_now, before[1]))

        def undo() -> None:
            if started(pid) == mark:
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)

        self._later(fault.seconds, undo)
        return f"{pid} has no more than {open_now}"

    # ── what is around them ───────────────────────────────────────────────

    def _network(self, fault: Fault) -> str:
        links = self._stage.links
        match fault.kind:
            case "partition":
                links.is_cut_off = True
                self._later(fault.seconds, lambda: setattr(links, "is_cut_off", False))
            case "slow links":
                links.delay = 0.3
                self._later(fault.seconds, lambda: setattr(links, "delay", 0.0))
            case "cut links":
                links.cut()
            case _:
                raise AssertionError(fault.kind)
        return "done"

    def _step(self, seconds: int, lasts: float) -> str:
        file = self._stage.clock_file
        file.write_text(str(seconds))
        self._later(lasts, lambda: _write(file, "0"))
        return f"{seconds:+} s"

    def _fill(self, lasts: float) -> str:
        filler = self._stage.state / "filler"
        size = _free(self._stage.state)
        file = os.open(filler, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            for piece in (1 << 20, 4096):
                with contextlib.suppress(OSError):
                    while os.write(file, bytes(piece)):
                        pass
        finally:
            os.close(file)
            self._later(lasts, lambda: filler.unlink(missing_ok=True))
        return f"{size} bytes"

    def _bomb(self, lasts: float) -> str:
        program = self._stage.folder / "bomb.py"
        program.write_text(BOMB % max(lasts, 1.0))
        words = ("run", "--timeout", "30", "boxed", f"python3 {program}")
        done = self._stage.alpha.run(*words)
        return (done.stdout or done.stderr).strip()[:200]

    def _later(self, seconds: float, undo: Callable[[], object]) -> None:
        def wait() -> None:
            time.sleep(seconds)
            undo()

        self._undoing.append(threading.Thread(target=wait))
        self._undoing[-1].start()

    # ── until all is well ─────────────────────────────────────────────────

    def wait_calm(self, patience: float = CALM) -> None:
        """Wait until whatever died was replaced; note how long that took."""
        began = time.monotonic()
        unrest = "no keeper"
        while unrest and time.monotonic() < began + patience:
            with contextlib.suppress(OSError, KeyError):
                unrest = self.unrest()
            time.sleep(0.02)
        waited = round(time.monotonic() - began, 3)
        self._stage.history.note("calm", after=waited, unrest=unrest)

    def unrest(self) -> str:
        """Return the first thing on the first machine that is not whole yet."""
        status = self._stage.ask(self._stage.alpha, do="status")
        for name in ("pid", "nursery", "trustee"):
            pid = status[name]
            assert isinstance(pid, int)
            if not pid or witness.is_dead(pid):
                return f"no {name}"
        listed = self._stage.ask(self._stage.alpha, do="list")["sessions"]
        assert isinstance(listed, list)
        for one in listed:
            if not one["held"] and not one["dozing"]:
                return f"{one['name']} is not held"
            if not one["dozing"] and witness.is_dead(one["holder"]):
                return f"the holder of {one['name']} has just died"
        kept = witness.descriptors(int(str(status["trustee"])))
        if sum("ptmx" in one for one in kept) < len(listed):
            return "the trustee does not have everything"
        return ""


def _knock(painter: Path) -> None:
    """Have a painter started."""
    with packets.connect(painter, 20) as link:
        link.send(b"?")  # No request: it hangs up, and lives.
        link.recv(10)


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_bsize


def _write(file: Path, text: str) -> None:
    file.write_text(text)
