"""Who may write in a session, and who decides what may be written."""

import contextlib
from collections.abc import AsyncGenerator

from holdfast.client.driver import attachment_to
from holdfast.core.client.timeouts import ASK_TURN
from holdfast.core.client.turn_wait import TurnWait
from holdfast.model import errors
from holdfast.model.ids import ActorId
from holdfast.model.text import printable, same_name
from holdfast.sdk import session_answers
from holdfast.sdk.session_base import SessionBase
from holdfast.sdk.values import Standing
from holdfast.wire import messages


class Turns(SessionBase):
    """What is done about the turn, and about what waits for approval."""

    # ── the turn ──────────────────────────────────────────────────────────

    async def who(self) -> Standing:
        """Return who is attached, who has the turn and who waits for what."""
        return await self._request()

    async def take(self) -> Standing:
        """Take the turn, if it is free.

        Raises:
            Forbidden: Another operator has it.

        """
        return await self._request(messages.Take())

    async def ask(self, timeout: float = ASK_TURN) -> Standing:
        """Ask the turn's holder for it, and wait until it is ours.

        Raises:
            Unavailable: It was not given, or nobody answered in time.

        """
        attachment = attachment_to(await self._live(), self._mode)
        done = await self._converse(TurnWait(attachment, timeout, self._now()))
        return session_answers.standing_from(done)

    async def give(self, to: str) -> Standing:
        """Give our turn to an operator that is attached, by its name or id.

        Raises:
            UsageError: Nobody here is called that.
            Forbidden: The turn is not ours.

        """
        return await self._request(messages.Give(await self._operator(to)))

    async def refuse(self, asker: str) -> Standing:
        """Say no to an operator that asks for our turn.

        Raises:
            UsageError: It has not asked.

        """
        return await self._request(
            messages.Answer(await self._operator(asker), granted=False)
        )

    async def drop(self) -> Standing:
        """Let our turn go.

        Raises:
            Forbidden: The turn is not ours.

        """
        return await self._request(messages.Drop())

    async def seize(self, *, freeze: bool = False, interrupt: bool = False) -> Standing:
        """Take the turn from any holder; with it stop or interrupt what runs.

        Raises:
            Forbidden: We may not seize here.
            UsageError: Both cannot be wanted.

        """
        if freeze and interrupt:
            raise errors.MalformedArgument("freeze and interrupt", "one of the two")
        halt = messages.Halt.FREEZE if freeze else messages.Halt.NONE
        return await self._request(
            messages.Seize(messages.Halt.INTERRUPT if interrupt else halt)
        )

    async def freeze(self) -> Standing:
        """Stop every process of the session where it stands."""
        return await self._request(messages.Freeze())

    async def thaw(self) -> Standing:
        """Let the session's processes run again."""
        return await self._request(messages.Thaw())

    @contextlib.asynccontextmanager
    async def turn(self, timeout: float = ASK_TURN) -> AsyncGenerator[Standing, None]:
        """Hold the turn for a while: take it, or ask for it, and drop it afterwards.

        A turn that was ours already stays ours. One that is seized meanwhile is
        not missed at the end; what is done after that is refused.

        Raises:
            Unavailable: It was not given, or nobody answered in time.

        """
        async with self._attached():
            before = await self.who()
            had_turn = before.has_turn
            if not had_turn:
                before = await (self.take() if before.is_free else self.ask(timeout))
            try:
                yield before
            finally:
                if not had_turn:
                    with contextlib.suppress(errors.NotYourTurn, errors.SessionOver):
                        await self.drop()

    # ── approvals ─────────────────────────────────────────────────────────

    async def pending(self) -> tuple[messages.Pending, ...]:
        """Return the pending inputs."""
        return (await self.who()).pending

    async def approve(self, what: int | messages.Pending) -> Standing:
        """Let through what waits under a ticket, exactly as it was shown.

        Raises:
            Forbidden: It is our own, it has changed, or we may not approve.
            UsageError: Nothing waits under that ticket.

        """
        one = await self._waiting(what)
        return await self._request(messages.Approve(one.ticket, one.epoch, one.digest))

    async def deny(self, what: int | messages.Pending) -> Standing:
        """Refuse what waits under a ticket.

        Raises:
            Forbidden: We may not.
            UsageError: Nothing waits under that ticket.

        """
        one = await self._waiting(what)
        return await self._request(messages.Deny(one.ticket, one.digest))

    # ── inside ────────────────────────────────────────────────────────────

    async def _operator(self, wanted: str) -> ActorId:
        name = wanted.removeprefix("@")
        for one in (await self.who()).present:
            if one.actor == name or same_name(one.name, name):
                return one.actor
        raise errors.OperatorNotHere(printable(name, 64))

    async def _waiting(self, what: int | messages.Pending) -> messages.Pending:
        if isinstance(what, messages.Pending):
            return what
        for one in await self.pending():
            if one.ticket == what:
                return one
        raise errors.NothingPending(what)
