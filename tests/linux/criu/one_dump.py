"""Dumps one capsule of whoever runs this, restores it, and prints what came of it.

Arguments: a program in Python that sets the scene, what the restored program is asked,
`own` for a network of its own. The program evaluates each line that it is sent.
"""

import json
import os
import select
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from holdfast.core.capsule.preflight import judge
from holdfast.linux import exec_filter, procfs, spawn
from holdfast.linux.capsule.start import Capsule, hold_leader, hold_vacant
from holdfast.linux.capsule.view import View
from holdfast.linux.criu import engine, program, survey
from holdfast.model.errors import HoldfastError
from holdfast.model.geometry import Size

PATIENCE = 20.0
SIZE = Size(200, 50)
SERVE = """
import os, sys
print("ready", flush=True)
while True:
    line = sys.stdin.readline()
    print("=" + str(eval(line)), flush=True)
"""


def answer(master: int, wanted: str, asked: str = "") -> str:
    """Type something; return what is printed from `wanted` on, to the line's end."""
    if asked:
        os.write(master, f"{asked}\n".encode())
    seen, deadline = "", time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        _, found, rest = seen.partition(f"\n{wanted}")
        if found and "\r" in rest:
            return rest.partition("\r")[0]
        if select.select([master], [], [], 1.0)[0]:
            seen += "\n" * (not seen) + os.read(master, 65536).decode()
    raise TimeoutError(seen)


def started(scene: str, view: View) -> Capsule:
    variables = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": "/"}
    command = (sys.executable, "-c", scene + SERVE)
    capsule = hold_leader(spawn.Leader(command, "/", variables), view, SIZE)
    spawn.say(capsule.held.word, spawn.GO)
    answer(capsule.master, "ready")
    return capsule


def foretold(site: engine.Site) -> dict[str, Any]:
    *_, facts = survey.survey(site)
    assert facts is not None
    judged = judge(facts)
    blockers = [[one.kind.value, one.pid, one.descriptor] for one in judged.blockers]
    return {"blockers": blockers, "cuts": [one.peer for one in judged.cuts]}


def check(scene: str, asked: str, net: str, folder: Path) -> dict[str, Any]:
    criu = program.find().program
    assert criu is not None
    own = net == "own"
    root = exec_filter.is_privileged()
    view = View((), is_root=root, has_own_net=own, uid=os.getuid())
    capsule = started(scene, view)
    site = engine.Site(capsule.record, capsule.first)
    found = foretold(site)
    folders = engine.Folders(folder / "images", folder / "work", folder / "cache")
    for one in folders:
        one.mkdir()
    try:
        engine.dump(criu, site, folders)
    except HoldfastError as error:
        # What was not dumped goes on.
        still = answer(capsule.master, "=", asked)
        return {**found, "refused": str(error), "answer": still}
    signal.pidfd_send_signal(capsule.first, signal.SIGKILL)
    os.waitpid(capsule.record.first, 0)
    vacant = hold_vacant(view, SIZE)
    site = engine.Site(capsule.record._replace(first=vacant.pid), vacant.first)
    try:
        engine.restore(criu, site, folders, capsule.record.terminal)
        engine.set_counter(site, 500)
        found["answer"] = answer(vacant.master, "=", asked)
        pid = engine.numbers(vacant.pid)[capsule.record.inner_leader]
        found["descriptors"] = sorted(procfs.numbers(f"/proc/{pid}/fd"))
    except (HoldfastError, OSError) as error:
        found["not_restored"] = str(error)
    os.close(vacant.lifeline)
    _, status = os.waitpid(vacant.pid, 0)
    return {**found, "first_ended": os.waitstatus_to_exitcode(status)}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        scene, asked, net = sys.argv[1:]
        sys.stdout.write(json.dumps(check(scene, asked, net, Path(folder))))


if __name__ == "__main__":
    main()
