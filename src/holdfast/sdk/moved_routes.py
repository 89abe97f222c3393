"""The routes to sessions that moved to another host while we use them.

A session that moves says where it goes, signed by the host that it leaves; from then on
everything that concerns it takes the other route. Until it goes on there, or if it
could not, both are tried in turn. What is asked is decided elsewhere, and is the same
on either.
"""

import asyncio
from typing import TYPE_CHECKING

from holdfast.linux.stored.move_notes import MoveNote
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.ids import SessionId
from holdfast.sdk.near_route import Near

if TYPE_CHECKING:
    from holdfast.client.hosts import KnownHost
    from holdfast.sdk.routes import Way


class MovedRoutes:
    """The ways to sessions that have left the host we came to."""

    def __init__(self, us: Enrolled, tasks: asyncio.TaskGroup) -> None:
        self._us = us
        self._tasks = tasks
        self._made: dict[bytes, Way] = {}
        self._now: dict[SessionId, Way] = {}
        self._before: dict[SessionId, Way] = {}

    def way_to(self, session: SessionId, home: "Way") -> "Way":
        """Return the way to a session of the host to which `home` leads."""
        return self._now.get(session, home)

    async def follow(self, session: SessionId, home: "Way", word: str) -> None:
        """Take that a session went elsewhere, in the words of the host it left.

        Raises:
            PeerError: That host has not said so.

        """
        # What goes far is slow to load, and most sessions stay.
        from holdfast.client import moved_host  # noqa: PLC0415  # see above

        left = self.way_to(session, home)
        ours = await asyncio.to_thread(moved_host.our_key)
        key = _key_of(left) or ours
        found = await asyncio.to_thread(moved_host.host_in, word, session, key)
        self._made.setdefault(_key_of(home) or ours, home)
        self._before[session] = left
        self._now[session] = self._way(found, home, is_here=found.public_key == ours)

    async def led_to(self, text: str, home: "Way") -> MoveNote | None:
        """Follow a session that moved away from this machine before we came.

        Return what is noted of it; None if there is no such session.
        """
        from holdfast.client.departures import gone  # noqa: PLC0415  # rarely needed

        note = await asyncio.to_thread(gone, text)
        if note is not None:
            await self.follow(SessionId(note.session), home, note.told)
        return note

    def try_other(self, session: SessionId) -> None:
        """Look for a session next where it came from, or again where it went."""
        if session in self._before:
            here, there = self._now[session], self._before[session]
            self._now[session], self._before[session] = there, here

    async def close(self) -> None:
        """Hang up on every host but the one that we came to."""
        for way in self._made.values():
            await way.close()

    def _way(self, host: "KnownHost", home: "Way", *, is_here: bool) -> "Way":
        from holdfast.sdk.far_route import Far  # noqa: PLC0415  # see above

        made = self._made.get(host.public_key)
        if made is None:
            made = Near(self._us) if is_here else Far(host, self._us, self._tasks)
            made.program, made.moved = home.program, self
            self._made[host.public_key] = made
        return made


def _key_of(way: "Way") -> bytes:
    """Return the key of the host a way leads to; nothing if that is this machine's."""
    return b"" if isinstance(way, Near) else way.host_key()
