"""Runs one command in a capsule of whoever runs this; prints what came of it as JSON.

Arguments: a shell's command, the folders to hide, `own` for a network of its own, and
the folders that cannot be changed.
"""

import json
import os
import select
import signal
import sys
import time
from pathlib import Path

from holdfast.linux import exec_filter, processes, spawn
from holdfast.linux.capsule.start import Capsule, hold_leader
from holdfast.linux.capsule.view import View
from holdfast.model.errors import HoldfastError
from holdfast.model.geometry import Size

PATIENCE = 20.0


def main() -> None:
    script, hidden, net = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    view = View(
        tuple(hidden),
        tuple(json.loads(sys.argv[4])),
        is_root=exec_filter.is_privileged(),
        has_own_net=net == "own",
        uid=os.getuid(),
    )
    variables = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": "/"}
    leader = spawn.Leader(("/bin/sh", "-c", script), "/", variables)
    try:
        capsule = hold_leader(leader, view, Size(200, 50))
    except HoldfastError as error:
        sys.stdout.write(json.dumps({"refused": str(error)}))
        return
    pidfd = os.pidfd_open(capsule.held.pid)
    spawn.say(capsule.held.word, spawn.GO)
    why = spawn.why_not_begun(capsule.held.report, capsule.held.program)
    printed = everything(capsule, pidfd)
    select.select([pidfd], [], [], PATIENCE)
    status = processes.exit_of_zombie(capsule.held.pid)
    os.close(capsule.lifeline)
    _, ended = os.waitpid(capsule.record.first, 0)
    found = {
        "why": why,
        "printed": printed,
        "status": status,
        "first_ended": os.waitstatus_to_exitcode(ended),
        "left": [
            pid
            for pid in (capsule.record.init, capsule.record.parent, capsule.held.pid)
            if Path(f"/proc/{pid}").exists()
        ],
        **capsule.record._asdict(),
    }
    sys.stdout.write(json.dumps(found))


def everything(capsule: Capsule, pidfd: int) -> str:
    """Return what is printed until the leader has ended."""
    found, deadline = b"", time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ready, _, _ = select.select([capsule.master, pidfd], [], [], 1.0)
        try:
            if capsule.master in ready:
                found += os.read(capsule.master, 65536)
                continue
        except OSError:
            break
        if pidfd in ready:
            break
    else:
        signal.pidfd_send_signal(capsule.first, signal.SIGKILL)
    return found.decode(errors="replace").replace("\r\n", "\n")


if __name__ == "__main__":
    main()
