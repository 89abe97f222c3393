"""Sessions of the past, lost or on disk, and a keeper that begins them again."""

import contextlib
import json
import os
import pty
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.cli.support.fakes import FakeKeeper, FakeSession
from tests.cli.support.operating import be_known
from tests.core.capsule.image_samples import WHOLE

from holdfast.core.session.recovery import LeaderMark, StartFacts
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store, places, recovery_files
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import NameTaken
from holdfast.model.ids import ENTROPY, Incarnation, SessionId, client_id, session_id
from holdfast.model.session_record import ParentRecord
from holdfast.wire.checkpoints import Checkpointed, CheckpointRequest
from holdfast.wire.codec import Message
from holdfast.wire.image_manifest import Capsule, Machine, OpenFile
from holdfast.wire.preflights import Cut

CUT = Cut(pid=9, program="curl\x1b", descriptor=5, peer="192.0.2.1:443")


def begin(
    name: str = "old",
    environment: dict[str, str] | None = None,
    parent: ParentRecord | None = None,
) -> SessionId:
    """Have it on record that a session began; nobody has it, so that it is lost.

    Its id is a new one: a socket with an id in its name is anybody's on this machine.
    """
    session = session_id(os.urandom(ENTROPY))
    facts = StartFacts(
        session=session,
        incarnation=Incarnation(1),
        name=name,
        first_name=name,
        command=("sh",),
        cwd="/",
        environment=environment,
        is_grounded=False,
        size=(80, 24),
        window=1 << 20,
        integration=False,
        exec_gate=False,
        creator="a_x",
        created_ms=1,
        leader=LeaderMark(0, 0, ""),
        parent=parent,
    )
    recovery_files.write_facts(facts)
    note(session, "opened")
    return session


def note(session: SessionId, kind: str, *, seconds: int = 0, **more: object) -> None:
    """Write into a logbook what happened to a session, so many seconds ago."""
    at = time.time_ns() // 1_000_000 - 1000 * seconds
    line = json.dumps({"kind": kind, "incarnation": 1, "at": at, **more})
    with places.session_log(session).open("a") as book:
        book.write(f"{line}\n")


def put_to_disk(
    session: SessionId,
    *,
    files: tuple[OpenFile, ...] = (),
    machine: Machine = WHOLE.machine,
    capsule: Capsule = WHOLE.capsule,
) -> ImageName:
    """Make an image of a session."""
    with image_store.begin(session) as draft:
        draft.add("window.bin", b"$ ")
        for one in files:
            draft.add(one.copy, b"then")
        made_ms = time.time_ns() // 1_000_000
        manifest = replace(WHOLE, open_files=files, made_ms=made_ms, once=False)
        manifest = replace(manifest, machine=machine, capsule=capsule)
        draft.finish(manifest, SigningKey.from_seed(host_seed()))
        return draft.name


def images_left() -> list[str]:
    """Return which images there are."""
    host = SigningKey.from_seed(host_seed()).public
    return [str(one.name) for one in image_store.listed(host)]


class ForkableSession(FakeSession):
    """A session that goes to disk when it is told to."""

    def __init__(self, folder: Path, name: str = "web") -> None:
        super().__init__(folder, name)
        self.asked_for: list[CheckpointRequest] = []

    def _answer(self, link: socket.socket, message: Message) -> None:
        if not isinstance(message, CheckpointRequest):
            super()._answer(link, message)
            return
        self.asked_for.append(message)
        name = put_to_disk(self.id)
        self._say(
            link,
            Checkpointed(
                image=str(name),
                number=name.number,
                size=2,
                still_ms=90,
                stopped=message.stop,
                cuts=(CUT,),
            ),
        )


class Reviver(FakeKeeper):
    """Begins a session again, or a branch of one, and notes what it was asked."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.refuses = ""
        self.begins = True
        self.ends_with: int | None = None

    def wanted(self, word: str) -> list[dict[str, Any]]:
        """Return the requests of one kind, in their order."""
        return [one for one in self.asked if one["do"] == word]

    def has_forkable(self, name: str = "web") -> ForkableSession:
        """Have a session that can be put to disk."""
        made = ForkableSession(self.folder, name)
        self.sessions.append(made)
        return made

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["do"] not in ("recover", "create"):
            return super()._answer(asked)
        name = asked["name"]
        if self.refuses == name:
            error = NameTaken(name)
            told = {"code": error.code, "text": str(error), "facts": error.facts}
            return {"ok": False, **told}
        (made,) = self.has(name)
        life = 1
        if session := asked.get("recovers"):
            life = 2
            made.die()
            made.id = SessionId(session)
            made.path = self.folder / "s" / f"{session}.sock"
            made.facts |= {"id": session, "incarnation": life}
            made.revive()
        if self.ends_with is not None:
            made.exits(self.ends_with)
        answer: dict[str, Any] = {"ok": True, "id": made.id, "name": name, "pid": 12}
        answer |= {"incarnation": life, "state": "running"}
        if not self.begins:
            client = client_id(os.urandom(ENTROPY))
            answer |= {"state": "starting", "start": {"client": client, "text": "sh"}}
        return answer


@contextlib.contextmanager
def reviving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reviver]:
    """Have such a keeper, in a home of its own."""
    # Not tmp_path: a socket's path may be 107 bytes long and no longer.
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        be_known(Path(folder), monkeypatch)
        fake = Reviver(Path(folder))
        try:
            yield fake
        finally:
            fake.close()


@contextlib.contextmanager
def at_terminal(typed: bytes = b"") -> Iterator[None]:
    """Have a terminal as our input and output, into which somebody has typed."""
    master, slave = pty.openpty()
    kept, stdin = [os.dup(fd) for fd in (0, 1)], sys.stdin
    os.write(master, typed + b"\x04")  # Who asks for more gets no answer.
    try:
        for fd in (0, 1):
            os.dup2(slave, fd)
        with os.fdopen(os.dup(slave)) as sys.stdin:
            yield
    finally:
        sys.stdin = stdin
        for fd, before in enumerate(kept):
            os.dup2(before, fd)
        for fd in (*kept, master, slave):
            os.close(fd)
