"""What all acts of the play need: who is on, what runs, and what the book says."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

from anyio.from_thread import BlockingPortal, start_blocking_portal
from tests.scenarios.agents import FREE, Agent, agent
from tests.scenarios.elsewhere import Facts
from tests.scenarios.leftovers import end_everything, left_over
from tests.web.browsing import ROOT, Page
from tests.web.world import World

FITS = """(() => {
  const end = (name) => document.querySelector(name).getBoundingClientRect().bottom;
  const isOurs = document.querySelector('.is-ours') !== null;
  return !isOurs || end('.xterm-screen') <= end('.screen') + 1;
})()"""
"""Whoever has the turn has a terminal as large as the room for it, a moment later."""

IMAGES = ROOT / "docs/images"
PROGRAMS = Path(__file__).parent / "programs"


class Process(NamedTuple):
    """What stays the same of a process for as long as it is the same one."""

    pid: int
    parent: int
    started: int
    command: str
    inner: int
    """As its capsule numbers it, which is what it knows of itself."""


class Stage(World):
    """A machine with a shop to be built and migrated, where agents may act."""

    def __init__(self) -> None:
        super().__init__()
        self.shop = self.furnish_shop()
        shutil.copytree(PROGRAMS, self.shop, dirs_exist_ok=True)
        self.policy(FREE)

    def family(self, name: str) -> list[Process]:
        """Return every process of a session, by the kernel's word."""
        (session,) = [
            one for one in self.facts("ls")["sessions"] if one["name"] == name
        ]
        everybody = [*_processes()]
        found = [one for one in everybody if one.pid == session["pid"]]
        for one in found:  # It grows while we go through it.
            found += [child for child in everybody if child.parent == one.pid]
        return found

    def part_of(self, name: str) -> int:
        """Return which part a build has come to."""
        seen = re.findall(r"\[(\d+)/", self.do("screen", name))
        return int(seen[-1])

    def loses_every_process(self) -> None:
        """Kill all that runs there at once, as a machine that loses power does."""
        lost = left_over(self.folder, "HOLDFAST_RUNTIME_DIR")
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in lost:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        end_everything(self.folder)

    def enrols(self, name: str) -> None:
        """Make a person known who works at this machine itself."""
        self.do("operators", "add", name, "--kind", "human")

    def names(self) -> dict[str, str]:
        """Return how everybody is called who may come to this machine."""
        known = self.facts("operators")["operators"]
        return {one["actor"]: one["name"] for one in known}

    def typed(self, name: str) -> dict[str, str]:
        """Return what each operator has typed into a session, by its logbook."""
        names, found = self.names(), dict[str, str]()
        for entry in self.book(name):
            if entry["kind"] == "input" and entry["input"] not in ("resize", "start"):
                who, text = names[entry["actor"]], base64.b64decode(entry["data"])
                found[who] = found.get(who, "") + text.decode()
        return found

    def turns(self, name: str) -> list[tuple[str, str]]:
        """Return who got the turn of a session, and how, by its logbook."""
        names = self.names()
        return [
            (names[entry["to"]], entry["reason"])
            for entry in self.book(name)
            if entry["kind"] == "turn" and entry["to"]
        ]

    def book(self, name: str) -> list[Facts]:
        """Return every entry of a session's logbook, which must hold together."""
        self.do("log", "--verify", name)
        return [
            json.loads(line) for line in self.do("log", "--json", name).splitlines()
        ]


class Robot:
    """An agent of another vendor, which speaks to our server over its stdio."""

    def __init__(self, portal: BlockingPortal, inner: Agent) -> None:
        self._portal = portal
        self._agent = inner

    def does(self, tool: str, **given: object) -> dict[str, Any]:
        """Call a tool that must do what it is for."""
        return self.begins(tool, **given).result()

    def begins(self, tool: str, **given: object) -> Future[dict[str, Any]]:
        """Call a tool, and go on with something else."""
        return self._portal.start_task_soon(lambda: self._agent.call(tool, **given))

    def is_refused(self, tool: str, **given: object) -> dict[str, Any]:
        """Call a tool that must be refused; return why."""
        return self._portal.call(lambda: self._agent.refused(tool, **given))


@contextlib.contextmanager
def stage() -> Iterator[Stage]:
    """Return a machine that is ended when the block is."""
    made = Stage()
    try:
        yield made
    finally:
        made.close()


@contextlib.contextmanager
def robot(here: Stage, *words: str) -> Iterator[Robot]:
    """Return an agent that runs on that machine, by these words before the verb."""
    with (
        here.inhabited(),
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(agent(*words)) as inner,
    ):
        yield Robot(portal, inner)


def picture(page: Page, name: str) -> None:
    """Take a picture for the documentation, once nothing passes by itself."""
    page.lose(".toast")
    page.wait(FITS)
    page.picture(IMAGES / f"acceptance-{name}.png")


def _processes() -> Iterator[Process]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_text().replace("\0", " ")
            inner = _inner((folder / "status").read_text())
            pid, parent, started = int(folder.name), int(fields[1]), int(fields[19])
            yield Process(pid, parent, started, words, inner)


def _inner(status: str) -> int:
    (numbers,) = re.findall(r"^NSpid:(.*)$", status, re.MULTILINE)
    return int(numbers.split()[-1])
