"""The porter: makes one checkpoint, in a separate process.

The nursery forks it, so that the holder goes on meanwhile, whatever CRIU does:

    look      what is in the way? Nothing has been touched then
    note      what stands still already, with a lock that CRIU gets from us
    dump      from here on all of the session stands still
    ask       the holder for what it knows: the window, the facts, the logbook's head
    copy      what is open for writing, and hash what is only read
    go on     in place, the session goes on now
    seal      everything synced, the manifest last; the holder is told

What becomes of the session is the holder's to decide. When we are gone, or dead, it
lets go on what still stands, or ends it if the image has taken the session's place.
"""

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.core.capsule.manifest import PASSING
from holdfast.core.capsule.preflight import Cut, Judgement
from holdfast.crypto.keys import SigningKey
from holdfast.holder import previewer
from holdfast.holder.image_manifest import Facts, manifest_of
from holdfast.holder.image_parts import CRIU_FILES, START, TYPED, WINDOW
from holdfast.holder.image_retention import demand_room, retain
from holdfast.holder.kept_files import keep_files
from holdfast.holder.tree_dump import TreeDump, usable_criu
from holdfast.linux import packets
from holdfast.linux.capsule import stopped_processes
from holdfast.linux.criu import engine, typeahead
from holdfast.linux.stored import checkpoint_note, image_store
from holdfast.linux.stored.host_key import host_seed
from holdfast.model import errors
from holdfast.model.ids import SessionId, parse_session_id
from holdfast.model.session_record import HeldRecord, SessionRecord
from holdfast.wire.image_manifest import Manifest

PATIENCE = 30.0
"""Seconds for the holder to say what it knows; one that hangs is replaced in less."""

MAX_TOLD = 1000
"""Processes of which an image says who started them; they fit into one packet."""


class HolderGone(ConnectionError):
    """The holder that wants the image has died, or hangs."""


class Job(NamedTuple):
    """What is to be done."""

    session: SessionId
    record: SessionRecord
    held: HeldRecord
    stop: bool
    label: str
    is_passing: bool
    """Whether the image is for one branch."""

    is_gated: bool
    first: int
    """The pidfd of pid 1 of its capsule."""

    master: int

    @property
    def site(self) -> engine.Site:
        """Where CRIU works."""
        if self.held.capsule is None:
            raise errors.NotCheckpointable(self.record.name, "it is not in a capsule")
        return engine.Site(self.held.capsule, self.first)


def serve(fds: list[int]) -> None:
    """Do what the holder at the other end of this socket wants, and tell it."""
    link = socket.socket(fileno=fds[0])
    link.settimeout(PATIENCE)
    heard = packets.receive(link)
    if heard is None:
        return
    packet, given = heard
    if packet.get("do") == "preview":
        previewer.serve(link, packet)
        return
    try:
        Porter(link, _job(packet, given)).run()
    except HolderGone:
        pass  # Its successor sees to what we leave.
    except errors.HoldfastError as error:
        _fail(link, error)
    except OSError as error:
        _fail(link, errors.CriuFailed(error.strerror or str(error)))


def _job(packet: packets.Packet, given: list[int]) -> Job:
    facts = packet.get("facts")
    known: dict[str, object] = facts if isinstance(facts, dict) else {}
    session = parse_session_id(str(packet.get("id")))
    first, master = given
    return Job(
        session,
        SessionRecord.from_facts({**known, "id": session}),
        HeldRecord.from_facts(known),
        packet.get("stop") is True,
        str(packet.get("label") or ""),
        packet.get("branch") is True,
        packet.get("gated") is True,
        first,
        master,
    )


def _fail(link: socket.socket, error: errors.HoldfastError) -> None:
    told: packets.Packet = {"say": "failed", "code": error.code, "text": str(error)}
    with contextlib.suppress(OSError):  # Its successor sees to what we leave.
        packets.send(link, {**told, "facts": error.facts})


class Porter:
    """One image on its way."""

    def __init__(self, link: socket.socket, job: Job) -> None:
        self._link = link
        self._job = job
        self._pid = job.site.record.first

    def run(self) -> None:
        """Make the image, and tell the holder.

        Raises:
            HoldfastError: There is none.
            OSError: Likewise.

        """
        dump = _dump_for(self._job)
        seen = dump.look()
        with checkpoint_note.make(self._job.session) as note:
            image_store.sweep()
            is_durable = not self._job.is_passing
            begun = image_store.begin(self._job.session, is_durable=is_durable)
            with begun as draft:
                before = stopped_processes.standing(self._pid)
                spared = frozenset(before.values())
                note.write(checkpoint_note.Note(draft.name.number, spared))
                began = dump.settled(draft, note, spared)
                facts = self._facts(dump, seen, tuple(sorted(before)))
                manifest = self._described(draft, facts)
                if not self._job.stop:
                    stopped_processes.let_go(self._pid, spared)
                    draft.hash_memory(CRIU_FILES)
                still = time.monotonic() - began
                key = SigningKey.from_seed(host_seed())
                whole = draft.finish(manifest, key)
                if self._job.stop:
                    still = time.monotonic() - began
            try:
                self._tell(whole, seen.cuts, still)
            except OSError:
                if self._job.is_passing:  # Nobody will come for it.
                    image_store.remove(draft.name)
                raise
        if not self._job.is_passing:
            retain()

    def _described(self, draft: image_store.ImageDraft, facts: Facts) -> Manifest:
        """Put the rest into the image, and return what it says of itself."""
        members = stopped_processes.members(self._pid)
        processes = [[one.pid, one.parent, one.started] for one in members.values()]
        said = self._ask(draft, processes[:MAX_TOLD])
        shares = not self._job.is_passing  # A branch has a layer over them.
        files = draft, self._job.site.record, [one[0] for one in processes]
        opened = keep_files(*files, shares=shares)
        return manifest_of(facts._replace(members=members, opened=opened), said)

    def _ask(
        self, draft: image_store.ImageDraft, processes: list[list[int]]
    ) -> Mapping[str, object]:
        """Have the holder say what it knows, now that nothing is printed any more."""
        packets.send(self._link, {"say": "dumped", "processes": processes})
        heard = packets.receive(self._link)
        if heard is None:
            raise HolderGone
        said, (window, start) = heard
        draft.add(WINDOW, _content(window))
        draft.add(START, _content(start))
        if self._job.is_passing:
            draft.add(PASSING, b"")
        # From now on nothing is typed into a session that is stopped.
        typed = typeahead.rescue(self._job.master)
        if not self._job.stop:
            typeahead.replay(self._job.master, typed)
        draft.add(TYPED, typed)
        return said

    def _facts(
        self, dump: TreeDump, seen: Judgement, stopped: tuple[int, ...]
    ) -> Facts:
        return Facts(
            self._job.record,
            self._job.site.record,
            self._job.master,
            self._job.label,
            self._job.stop,
            dump.program,
            {},
            stopped,
            seen.cuts,
            is_gated=self._job.is_gated,
        )

    def _tell(self, whole: Manifest, cuts: tuple[Cut, ...], still: float) -> None:
        told: packets.Packet = {
            "say": "sealed",
            "number": whole.number,
            "size": sum(one.size for one in whole.files),
            "still_ms": int(still * 1000),
            "cuts": [[one.pid, one.program, one.descriptor, one.peer] for one in cuts],
        }
        packets.send(self._link, told)


def _dump_for(job: Job) -> TreeDump:
    if job.label and not job.stop:
        demand_room()
    return TreeDump(
        usable_criu(),
        job.site,
        job.master,
        job.record.name,
        job.is_gated,
        is_awaited=job.stop or job.is_passing,
    )


def _content(memory: int) -> bytes:
    try:
        return os.pread(memory, os.fstat(memory).st_size, 0)
    finally:
        os.close(memory)
