"""A keeper and holders without processes: the real protocol on real sockets.

What a real session has, its stream, its turn and what it remembers of inputs,
is in FakeSession and outlives the links; `die` and `revive` are a holder killed
and replaced.
"""

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.cli.support.operating import OTHER, US, Operating

from holdfast.linux import packets
from holdfast.linux.stored import session_names
from holdfast.model.errors import Busy, HoldfastError, InputGap
from holdfast.model.ids import (
    ENTROPY,
    ClientId,
    Epoch,
    Incarnation,
    Index,
    session_id,
)
from holdfast.model.inputs import InputId, InputKind
from holdfast.wire.codec import Message, decode, encode, refusal
from holdfast.wire.frames import FrameKind, FrameReader
from holdfast.wire.messages import (
    Acknowledge,
    Attach,
    Attached,
    Cells,
    Detach,
    End,
    Exited,
    Gap,
    Goodbye,
    Hello,
    Keyframe,
    Operator,
    Output,
    Resized,
    Submit,
    TurnPassed,
    Welcome,
)
from holdfast.wire.screens import ScreenRequest
from holdfast.wire.signatures import Sign, Signed

__all__ = ["OTHER", "US", "FakeKeeper", "FakeSession"]

PATIENCE = 10.0


class FakeSession:
    """One session: what a holder and its successors know, and their socket."""

    def __init__(  # noqa: PLR0915  # all that a session has
        self, folder: Path, name: str = "web"
    ) -> None:
        self.id = session_id(os.urandom(ENTROPY))
        self.folder = folder
        self.path = folder / "s" / f"{self.id}.sock"
        self.facts: dict[str, Any] = {
            "id": self.id,
            "name": name,
            "pid": 4711,
            "state": "running",
            "command": ["bash"],
            "cwd": "/",
            "size": [80, 24],
            **dict.fromkeys(("keep", "dozing"), False),
            **dict.fromkeys(("memory", "millicpus", "pids", "idle_ms", "output_ms"), 0),
            **dict.fromkeys(("recovered_ms", "created_ms", "reaps_ms", "imaged_ms"), 0),
            **dict.fromkeys(("doing", "turn_of", "authority", "fenced"), ""),
            "no_capsule": "",
            "attached": [],
            **dict.fromkeys(("attention", "parent", "exit")),
            "incarnation": 1,
            "runtime": "plain",
        }
        self.changed = threading.Condition()
        self.stream = b""
        self.start = 0
        self.incarnation = 1
        self.epoch = 0
        self.holder = ""
        self.inputs: list[Submit] = []
        self.submitted: list[Submit] = []
        self.signed: list[tuple[str, int]] = []
        self.attaches: list[Attach] = []
        self.ended_with: int | None = None
        self.detached = 0
        self.company: tuple[Operator, ...] = ()
        self.refusal: HoldfastError | None = None
        self.door: HoldfastError | None = None
        self.busy_times = 0
        self.is_silent = False
        self.keyframe: bytes | None = None
        self.screen: list[Message] = []
        self.asked_cells: bool | None = None
        self.farewell: Goodbye | None = None
        self.operating = Operating(self)
        self._next: dict[str, int] = {}
        self._links: list[socket.socket] = []
        self._viewers: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self.revive()

    # ── what tests do and look at ─────────────────────────────────────────

    def revive(self) -> None:
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self.path))
        listener.listen(64)
        self._listener = listener
        session_names.keep(self.id, self.facts["name"])
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()

    def die(self) -> None:
        with self.changed:
            assert self._listener is not None
            # A blocked accept would keep the socket alive.
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self.path.unlink(missing_ok=True)
            for link in self._links:
                with contextlib.suppress(OSError):
                    link.shutdown(socket.SHUT_RDWR)
            self._links.clear()
            self._viewers.clear()
            self.operating.here.clear()

    def prints(self, data: bytes) -> None:
        with self.changed:
            offset = self.start + len(self.stream)
            self.stream += data
            self.tell(Output(offset, data))

    def exits(self, status: int) -> None:
        with self.changed:
            self.facts |= {"state": "exited", "exit": status}
            self.tell(Exited(status))

    def speaks_nonsense(self) -> None:
        with self.changed:
            for viewer in self._viewers:
                viewer.sendall(b"\xff" * 16)

    def passes_turn(self, holder: str, reason: str = "taken", dropped: int = 0) -> None:
        with self.changed:
            self.pass_to(holder, reason, dropped)

    def says(self, message: Message) -> None:
        with self.changed:
            self.tell(message)

    def everybody(self) -> tuple[Operator, ...]:
        return (*self.operating.here.values(), *self.company)

    def wait_until(self, happened: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(happened, PATIENCE), "it never happened"

    def typed(self) -> bytes:
        return b"".join(i.payload for i in self.inputs if i.kind is InputKind.KEYS)

    def sizes(self) -> list[bytes]:
        return [i.payload for i in self.inputs if i.kind is InputKind.RESIZE]

    # ── the holder ────────────────────────────────────────────────────────

    def _serve(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = listener.accept()
                with self.changed:
                    self._links.append(link)
                threading.Thread(target=self._hear, args=(link,), daemon=True).start()

    def _hear(self, link: socket.socket) -> None:
        reader = FrameReader()
        with contextlib.suppress(OSError):
            while raw := link.recv(65536):
                for frame in reader.feed(raw):
                    with self.changed:
                        self._answer(link, decode(frame))
                        self.changed.notify_all()
        with self.changed:
            self.operating.here.pop(link, None)
            if link in self._viewers:
                self._viewers.remove(link)
        link.close()

    def _answer(  # noqa: C901  # one case for each message
        self, link: socket.socket, message: Message
    ) -> None:
        match message:
            case Hello():
                self._say(link, self.farewell or Welcome(1, "fake"))
                self.operating.challenge(link, self._say)
            case Attach():
                self._attach(link, message)
            case Submit():
                self._submit(link, message)
            case ScreenRequest():
                self.asked_cells = message.cells
                for part in self.screen:
                    self._say(link, part)
            case End(signal):
                self.ended_with = self.operating.ends(signal, link, self._say)
                self.facts |= {"state": "exited", "exit": -signal}
                self.tell(Exited(-signal), link)
            case Detach():
                self.detached += 1
            case Sign(client=client, last=last):
                self.signed.append((client, last))
                self._say(link, Signed(client, last))
            case _:
                self.operating.take(link, message, self._say)

    def _attach(self, link: socket.socket, asked: Attach) -> None:
        self.attaches.append(asked)
        if self.door is not None:
            self._say(link, refusal(self.door, FrameKind.ATTACH))
            return
        end = self.start + len(self.stream)
        if link in self._viewers:
            self._repaint(link, end)
            return
        us = self.operating.came(link, asked.client)
        for message in self.operating.early:
            self._say(link, message)
        columns, rows = self.facts["size"]
        self._say(
            link,
            Attached(
                session=self.id,
                name=self.facts["name"],
                incarnation=Incarnation(self.incarnation),
                epoch=Epoch(self.epoch),
                holder=self.holder,  # type: ignore[arg-type]
                start=self.start,
                end=end,
                state=self.facts["state"],
                size=Cells(columns, rows),
                operators=(us, *self.company),
            ),
        )
        self._viewers.append(link)
        same_life = asked.incarnation == self.incarnation
        after = asked.after if same_life else None
        at = self.start if after is None else max(after, self.start)
        if after is not None and at > after:
            self._say(link, Gap(after, at))
        if asked.keyframe and self.keyframe is not None and at == self.start:
            at = end
            self._repaint(link, end)
        for offset in range(at, end, 65536):
            piece = self.stream[offset - self.start :][:65536]
            self._say(link, Output(offset, piece))
        if self.facts["exit"] is not None:
            self._say(link, Exited(self.facts["exit"]))

    def _repaint(self, link: socket.socket, end: int) -> None:
        size, data = Cells(*self.facts["size"]), self.keyframe or self.stream
        self._say(link, Keyframe(offset=end, size=size, more=False, data=data))

    def _submit(self, link: socket.socket, given: Submit) -> None:
        self.submitted.append(given)
        about = InputId(ClientId(given.client), given.sequence)
        wanted = self._next.get(given.client, 1)
        if given.sequence > wanted:
            error: HoldfastError = InputGap(given.client, wanted, given.sequence)
            self._say(link, refusal(error, FrameKind.SUBMIT, about))
            return
        if given.sequence == wanted and self.busy_times:
            self.busy_times -= 1
            self._say(link, refusal(Busy(9, 9), FrameKind.SUBMIT, about))
            return
        if given.sequence == wanted:
            self._next[given.client] = wanted + 1
            if self.refusal is None:
                self._apply(given)
        if self.refusal is not None:
            self._say(link, refusal(self.refusal, FrameKind.SUBMIT, about))
        elif not self.is_silent:
            self._say(
                link,
                Acknowledge(
                    given.client, given.sequence, Index(len(self.inputs)), None
                ),
            )

    def _apply(self, given: Submit) -> None:
        self.inputs.append(given)
        if given.kind is InputKind.RESIZE:
            self.facts["size"] = size = [*map(int, given.payload.split(b"x"))]
            self.tell(Resized(self.start + len(self.stream), Cells(*size)))
        elif not self.holder:
            self.pass_to(US)

    def pass_to(self, holder: str, reason: str = "taken", dropped: int = 0) -> None:
        former, self.holder = self.holder, holder
        self.epoch += 1
        self.tell(
            TurnPassed(
                former=former,  # type: ignore[arg-type]
                holder=holder,  # type: ignore[arg-type]
                epoch=Epoch(self.epoch),
                reason=reason,
                dropped_inputs=dropped,
                dropped_bytes=10 * dropped,
            )
        )

    def tell(self, message: Message, *asker: socket.socket) -> None:
        for viewer in {*self._viewers, *asker}:
            self._say(viewer, message)

    def _say(self, link: socket.socket, message: Message) -> None:
        with contextlib.suppress(OSError):
            link.sendall(encode(message))


class FakeKeeper:
    """Answers packets, and knows the sessions it is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sessions: list[FakeSession] = []
        self.asked: list[dict[str, Any]] = []
        self.answer: bytes | None = None
        self.parts = 1
        self._listener = packets.listen(folder / "keeper.sock")
        threading.Thread(target=self._serve, daemon=True).start()

    def has(self, *names: str) -> list[FakeSession]:
        made = [FakeSession(self.folder, name) for name in names]
        for age, session in enumerate(made):
            session.facts["created_ms"] = age
        self.sessions += made
        return made

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        (self.folder / "keeper.sock").unlink(missing_ok=True)
        for session in self.sessions:
            session.die()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = self._listener.accept()
                with link:
                    raw = link.recv(1 << 20)
                    for answer in self._answers(json.loads(raw)) if raw else ():
                        link.send(answer)

    def _answers(self, asked: dict[str, Any]) -> Iterator[bytes]:
        self.asked.append(asked)
        if self.answer is not None:
            yield self.answer
            return
        answer = self._answer(asked)
        if asked["do"] == "list" and self.parts > 1:
            for session in answer["sessions"][:-1]:
                part = {"ok": True, "sessions": [session], "more": True}
                yield json.dumps(part).encode()
            answer["sessions"] = answer["sessions"][-1:]
        yield json.dumps(answer).encode()

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = [one for one in self.sessions if one.id == asked.get("id")]
        match asked["do"]:
            case "list":
                return {"ok": True, "sessions": [one.facts for one in self.sessions]}
            case "create":
                (made,) = self.has(asked.get("name") or "made")
                made.facts |= {"command": asked["command"], "size": asked.get("size")}
                return {"ok": True, "id": made.id, "name": made.facts["name"], "pid": 1}
            case "rename" | "keep":
                found[0].facts |= asked
            case "forget":
                self.sessions.remove(found[0])
            case "status":
                return {"ok": True, "version": "0", "pid": 7, "sessions": 0}
            case _:
                text = "no such request"
                return {"ok": False, "code": "x", "text": text, "facts": {}}
        return {"ok": True}
