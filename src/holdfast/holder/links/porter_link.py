"""The holder's link to the porter that makes an image of its session.

    we say     what is wanted, with the capsule's pid 1 and the terminal
    it says    dumped: the session stands still, and what we know of it is wanted
    we say     where the book ends, with the window and the facts
    it says    sealed: the image is whole; or failed, and why

Then it ends. It may end at any time without a word, and so may we.
"""

import contextlib
import socket
from dataclasses import dataclass
from typing import TypeAlias

from holdfast.core.book.logbook import Head
from holdfast.core.provenance.lineage import ProcessStart
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.provenance.shell_in_image import told_of
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import packets, shared_memory
from holdfast.linux.stored import move_notes
from holdfast.linux.stored.move_notes import MoveNote
from holdfast.model.errors import CriuFailed, HoldfastError
from holdfast.model.events import EventName
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire.checkpoints import Checkpointed, CheckpointRequest
from holdfast.wire.host_requests import error_from
from holdfast.wire.messages import Event, fitting
from holdfast.wire.preflights import MAX_CUTS, MAX_WHAT, Cut


@dataclass(frozen=True, slots=True)
class Dumped:
    """The session stands still."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """The image is whole; this is what is told of it."""

    told: Checkpointed


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no image, and why."""

    error: HoldfastError


@dataclass(frozen=True, slots=True)
class Gone:
    """The porter has ended."""


Said = Dumped | Sealed | Failed | Gone


Going: TypeAlias = MoveNote | None
"""Where a session goes that is stopped; None if it goes nowhere."""


def move_of(descriptors: SessionDescriptors, asked: CheckpointRequest) -> Going:
    """Return where the session goes, if it is stopped for that."""
    if not asked.stop or not descriptors.record.authority:
        return None
    found = move_notes.find(descriptors.session)
    is_ours = found is not None and found.life == descriptors.incarnation
    return found if is_ours else None


class PorterLink:
    """One porter, from when it is asked for until it is gone."""

    def __init__(
        self,
        descriptors: SessionDescriptors,
        keeper: KeeperLink,
        asked: CheckpointRequest,
    ) -> None:
        """Have a porter made, and tell it what is wanted.

        Raises:
            Unavailable: There is nobody who could make one.

        """
        self._descriptors = descriptors
        self._session = descriptors.session
        self._processes: tuple[ProcessStart, ...] = ()
        self._stops = asked.stop
        self.link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        packet: packets.Packet = {
            "id": descriptors.session,
            "facts": descriptors.facts(),
            "stop": asked.stop,
            "label": asked.label,
            "branch": asked.branch,
            "gated": bool(descriptors.gate),
        }
        try:
            keeper.want_porter(theirs.fileno())
            packets.send(
                self.link, packet, [descriptors.capsule[0], descriptors.master]
            )
        except OSError as error:
            self.link.close()
            raise CriuFailed(error.strerror or "there is no porter") from error
        finally:
            theirs.close()
        self.link.settimeout(0)

    def hear(self) -> Said | None:
        """Return what it says; None if that is nothing yet."""
        try:
            heard = packets.receive(self.link)
        except BlockingIOError:
            return None
        if heard is None:
            return Gone()
        packet, fds = heard
        packets.close(fds)
        match packet:
            case {"say": "dumped", "processes": list(found)}:
                self._processes = tuple(ProcessStart(*map(int, one)) for one in found)
                return Dumped()
            case {"say": "sealed", "number": int(number)}:
                return Sealed(self._told(number, packet))
            case {"say": "failed"}:
                return Failed(error_from(packet))
            case _:
                return None

    def tell(
        self, head: Head, window: bytes, start: bytes, shell: ShellCommands
    ) -> None:
        """Say what belongs into the image."""
        fds = [shared_memory.holding(one) for one in (window, start)]
        index: packets.Packet = {"index": head.index, "hash": head.hash.hex()}
        said = {**told_of(self._descriptors, shell, self._processes), **index}
        # If it is gone, that is heard next.
        with contextlib.suppress(OSError):
            packets.send(self.link, said, fds)
        packets.close(fds)

    def _told(self, number: int, packet: packets.Packet) -> Checkpointed:
        size, still, cuts = (packet.get(one) for one in ("size", "still_ms", "cuts"))
        listed = cuts if isinstance(cuts, list) else []
        return Checkpointed(
            image=f"{self._session}.{number}",
            number=number,
            size=size if isinstance(size, int) else 0,
            still_ms=still if isinstance(still, int) else 0,
            stopped=self._stops,
            cuts=tuple(
                Cut(
                    pid=int(pid),
                    program=fitting(str(program), MAX_WHAT),
                    descriptor=int(descriptor),
                    peer=fitting(str(peer), MAX_WHAT),
                )
                for pid, program, descriptor, peer in listed[:MAX_CUTS]
            ),
        )


def told_again(
    session: SessionId, number: int, asked: CheckpointRequest
) -> Checkpointed:
    """Return what is told of an image to who was not there when it was made.

    How long the session stood still, and what was cut, nobody remembers.
    """
    # Few sessions are ever put to disk, and every holder would have it in memory.
    from holdfast.linux.stored import image_list  # noqa: PLC0415  # see above

    return Checkpointed(
        image=f"{session}.{number}",
        number=number,
        size=image_list.size_of(session, number),
        still_ms=0,
        stopped=asked.stop,
        cuts=(),
    )


def image_event(by: ActorId, asked: CheckpointRequest, told: Checkpointed) -> Event:
    """Return what attached clients are told about an image, or about a branch."""
    session = SessionId(told.image.rpartition(".")[0])
    fields: dict[str, str | int] = {"actor": by, "still_ms": told.still_ms}
    if asked.branch:
        return Event(EventName.SESSION_FORKED, session, fields)
    name = EventName.SESSION_CHECKPOINTED
    if told.stopped:
        name = EventName.SESSION_STOPPED
    fields |= {"image": told.image, "label": asked.label, "size": told.size}
    return Event(name, session, fields)


def reap_event(
    session: SessionId,
    by: ActorId,
    why: str,
    idle_ms: int,
    told: Checkpointed | None = None,
) -> Event:
    """Return what everybody who is attached is told of a session that nobody used."""
    fields: dict[str, str | int] = {"actor": by, "why": why, "idle_s": idle_ms // 1000}
    fields["image"] = "" if told is None else told.image
    return Event(EventName.SESSION_REAPED, session, fields)
