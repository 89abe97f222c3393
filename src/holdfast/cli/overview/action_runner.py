"""Performs the overview's actions, and reports their results."""

import asyncio

from holdfast.cli.overview.hosts import Hosts
from holdfast.cli.overview.watched_sessions import WatchedSessions
from holdfast.core.client import questions
from holdfast.core.client.exchange import Inquiry
from holdfast.core.overview import acts
from holdfast.core.overview.dialogs import GONE
from holdfast.core.overview.sessions import Key
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Rename as RenameRequest
from holdfast.model.text import checked_name, printable
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message

MAX_SAID = 300


class Acts:
    """What the user of the overview has done with sessions."""

    def __init__(self, hosts: Hosts, looking: WatchedSessions) -> None:
        self._hosts = hosts
        self._looking = looking

    async def perform(self, effect: acts.Effect) -> acts.Told:
        """Do it; return what to say about it."""
        try:
            return acts.Told(await self._done(effect))
        except HoldfastError as error:
            return acts.Told(_sentence(error), is_bad=True)
        except OSError as error:
            return acts.Told(printable(str(error)), is_bad=True)
        finally:
            self._hosts.hurry()

    async def _done(self, effect: acts.Effect) -> str:  # noqa: PLR0911  # one for each
        match effect:
            case acts.Approve(key, ticket, digest) | acts.Deny(key, ticket, digest):
                return await self._decide(effect, key, (ticket, digest))
            case acts.Freeze(key) | acts.Thaw(key):
                is_frozen = isinstance(effect, acts.Freeze)
                await self._request(key, wire.Freeze() if is_frozen else wire.Thaw())
                return "frozen" if is_frozen else "thawed"
            case acts.Seize(key):
                host = self._hosts.entered(*key)
                await host.attach(key[1]).seize()
                self._looking.look_now(key)
                return "the turn is yours"
            case acts.Rename(key, name):
                asked = RenameRequest(key[1], checked_name(name))
                await self._hosts.entered(*key).way.ask(asked)
                return f"renamed to {name}"
            case acts.Recover(key, image):
                return await self._begin_again(key, image)
            case acts.End(key):
                await self._hosts.entered(*key).attach(key[1]).end()
                return "it has ended"
            case _:
                return ""

    async def _begin_again(self, key: Key, image: int) -> str:
        host = self._hosts.entered(*key)
        if image:
            await host.restore(f"{key[1]}.{image}")
            return "restored from disk"
        await host.recover(key[1])
        return "it was started again"

    async def _decide(
        self, effect: acts.Approve | acts.Deny, key: Key, which: tuple[int, bytes]
    ) -> str:
        pending = self._looking.pending(key, *which)
        if pending is None:
            return GONE
        if isinstance(effect, acts.Approve):
            asked: Message = wire.Approve(pending.ticket, pending.epoch, pending.digest)
        else:
            asked = wire.Deny(pending.ticket, pending.digest)
        await self._request(key, asked)
        return "approved" if isinstance(effect, acts.Approve) else "denied"

    async def _request(self, key: Key, asked: Message) -> None:
        """Ask a holder for something, without being attached to its session."""
        host = self._hosts.entered(*key)
        now = asyncio.get_running_loop().time()
        question = questions.request(host.way.us, asked)
        await host.converse(SessionId(key[1]), Inquiry(question, now))
        self._looking.look_now(key)


def _sentence(error: HoldfastError) -> str:
    said = f"{error}; {error.next_step}" if error.next_step else str(error)
    return printable(said, MAX_SAID)
