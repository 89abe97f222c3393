"""Mode 9: a session that nobody comes back to, and others that must stay."""

import json
import time

from holdfast.verify.account import Account, Facts, Unavailable
from holdfast.verify.processes import process
from holdfast.verify.scene import Scene
from holdfast.verify.workloads import ticking, ticks

WINDOW = 2
"""Seconds after which an idle session is reaped; policy, and short for this."""

LONGEST = 30.0
"""Seconds until an idle session of that window must be gone."""

SETTINGS = f"""
[reap]
after = "{WINDOW}s"
warning = "1s"
people = true
checkpoint = false
"""


def inject(scene: Scene) -> None:
    """Leave one session alone; have one work, and keep one."""
    account = scene.account
    if account.say("reap", "--help").status != 0:
        raise Unavailable("this version has no reaper")
    account.settings(SETTINGS)
    file = account.home / "ticks"
    kept = account.new("kept")
    account.do("keep", "kept")
    busy = account.new("busy", *ticking(file))
    account.do("up", "--detach")
    watch = account.start("watch", "--json", "--on", "reap.*", "--on", "session.reaped")
    idle = account.new("idle")
    began = time.monotonic()
    foretold = account.wait("the host knows both", lambda: _foretold(account))
    account.soon(lambda: process(idle.pid) != idle, LONGEST)
    took = time.monotonic() - began
    account.soon(lambda: _ending(account.entries("idle")), 5)
    told = [json.loads(line) for line in account.stop(watch).splitlines()]
    events = [one["event"] for one in told if one["name"] == "idle"]
    _reaped(scene, _ending(account.entries("idle")), told, took)
    scene.check(
        "it was announced before",
        holds="reap.warned" in events and events[-1:] == ["session.reaped"],
        events=", ".join(events),
    )
    scene.check(
        "what would be reaped can be asked before, with the reason",
        holds=not foretold["idle"]["why_not"] and bool(foretold["busy"]["why_not"]),
        busy=foretold["busy"]["why_not"],
    )
    before = ticks(file)[0]
    account.wait("the busy one ticks", lambda: ticks(file)[0] > before)
    scene.same("the one at work is not touched", busy, tick=ticks(file)[0])
    scene.same("the one that is kept is not touched", kept)
    others = {one["name"] for one in told if one["event"] == "session.reaped"}
    scene.check("nothing else was reaped", holds=others == {"idle"}, reaped=len(others))


def _reaped(scene: Scene, entry: Facts, told: list[Facts], took: float) -> None:
    reaped = [one for one in told if one["event"] == "session.reaped"]
    event: Facts = reaped[-1] if reaped else {}
    idle = int(entry.get("idle_ms", 0)) / 1000
    scene.check(
        "the one that nobody comes back to is reaped, after its window",
        holds=idle >= WINDOW,
        window=f"{WINDOW} s",
        idle=f"{idle:.1f} s",
        after=f"{took:.1f} s",
    )
    scene.check(
        "an event and the logbook say why, and who did it",
        holds=bool(event.get("why"))
        and event.get("why") == entry.get("why")
        and event.get("actor") == entry.get("by"),
        event=event.get("event"),
        why=event.get("why"),
        entry=entry.get("index"),
    )


def _foretold(account: Account) -> dict[str, Facts] | None:
    """Return what the reaper says of each session, once it knows those that matter."""
    listed = account.facts("reap", "--dry-run")["standings"]
    found = {one["name"]: one for one in listed}
    return found if {"idle", "busy"} <= set(found) else None


def _ending(entries: list[Facts]) -> Facts:
    found = [one for one in entries if one["kind"] == "ending"]
    return found[-1] if found else {}
