"""What survives a session's holder: descriptors, and facts about the session."""

import socket
from dataclasses import dataclass, field, replace

from holdfast.core.book.inheritance import Inheritance, Restored
from holdfast.core.book.logbook import EntryKind
from holdfast.core.session.left_behind import LeftBehind
from holdfast.core.session.paint_requests import Past as Painting
from holdfast.core.session.recovery import StartFacts
from holdfast.linux.process_table import Tree
from holdfast.model.ids import ActorId, Incarnation, SessionId
from holdfast.model.session_record import (
    Facts,
    HeldRecord,
    SessionRecord,
    fields_of,
)
from holdfast.model.session_requests import Change


@dataclass(slots=True)
class SessionDescriptors:
    """All that a holder needs, and that the keeper has a copy of."""

    record: SessionRecord
    held: HeldRecord
    master: int
    memory: int
    listener: socket.socket
    pidfd: int
    gate: tuple[int, ...] = ()
    """Of a session with an exec gate: its listener, and the memory for notices."""

    capsule: tuple[int, ...] = ()
    """Of a session with a capsule: the pidfd of its pid 1, and its lifeline."""

    start: list[int] = field(default_factory=list)
    """Of a session whose command has not begun: where it is told to, and where it
    says that it has. Empty from then on."""

    more: Facts = field(default_factory=dict)
    """What code of another version deposited, and may want back."""

    woken: LeftBehind | None = None
    """What the holder has left that let the session doze; None if none did."""

    is_resting: bool = False
    """Whether there is no keeper, and none is to be looked for."""

    origin: StartFacts | None = None
    """Of a life that we have begun: what it was begun with, until that is on disk."""

    restored: Restored | None = None
    """Of a life that was begun from an image: what that says."""

    begun_at: float = 0.0
    """When the restore of such a life was begun, by the monotonic clock; 0 if it is
    a branch, or no such life."""

    taken: SessionId | None = None
    """Of one that goes on as a branch of it did: which branch."""

    painting: Painting | None = None
    """Of a session that was recovered: the last keyframe of its earlier life."""

    @property
    def session(self) -> SessionId:
        """Its id."""
        return self.record.id

    @property
    def incarnation(self) -> Incarnation:
        """Which life of the session this is."""
        return Incarnation(self.record.incarnation)

    @property
    def first_name(self) -> str:
        """What the session's creator called it, by which rules know it.

        A rename must not choose the rules that hold in a session.
        """
        return self.held.first_name or self.record.name

    def tree(self, leader: int) -> Tree:
        """Name its processes, from this leader on; -1 if that is gone."""
        return Tree.of(leader, self.session, self.held.capsule)

    def continued(self, found: Inheritance, offset: int) -> Inheritance:
        """Return what we inherit; the output of a next life begins at `offset`.

        Of a session that dozed the book says nothing.
        """
        by, parent = ActorId(self.held.begun_by), self.record.parent
        if found.beginning is EntryKind.OPENED and parent is not None:
            return replace(found, by=by, parent=parent)
        if found.beginning is EntryKind.OPENED and self.record.no_capsule:
            return replace(found, no_capsule=self.record.no_capsule)
        if found.beginning is EntryKind.RECOVERED:
            told = replace(found, by=by, offset=offset, of=self.taken)
            return replace(told, restored=self.restored)
        if self.woken is None or found.doubtful is not None:
            return found
        return replace(found, beginning=None)

    def facts(self) -> Facts:
        """Return what is deposited besides the descriptors."""
        return {**self.more, **self.record.facts(), **self.held.facts()}

    def change(self, facts: Facts) -> None:
        """Take what has changed."""
        changes = fields_of(Change, facts)
        for name in {"ended_ms", "met"} & changes.keys():
            self.held = self.held._replace(**{name: changes.pop(name)})
        self.record = self.record._replace(**changes)

    def fds(self) -> list[int]:
        """Return the descriptors in the order in which they are deposited."""
        plain = [self.master, self.memory, self.listener.fileno(), self.pidfd]
        return [*plain, *self.gate, *self.capsule, *self.start]
