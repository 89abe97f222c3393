"""A standing line to one session: attached for as long as somebody uses it.

A task reads what comes, so that the session never waits for us, and carries it to
whoever asked. One question is asked at a time; its answer ends with a message that
only this question has. Inputs are answered by their ids, in any number.

What was asked and not answered when a link broke is asked again on the next one: to
ask for any of it twice does no more than once. Whoever is cancelled while waiting for
an answer waits for it a moment longer, and then has the link cut, so that nobody takes
that answer for another's.
"""

import asyncio
import contextlib
from collections import deque
from typing import Any, Generic, TypeVar

from holdfast.client.driver import attachment_to
from holdfast.core.client.exchange import Inquiry
from holdfast.core.client.questions import SessionQuestion
from holdfast.core.client.submission import Patience
from holdfast.core.client.timeouts import APPROVAL, RETRY, SIGNATURE
from holdfast.model.errors import (
    ApprovalPending,
    ApprovalTimeout,
    HoldfastError,
    NotYourTurn,
    OutcomeUnknown,
    SessionOver,
    SessionUnreachable,
    StaleEpoch,
    WaitedInVain,
)
from holdfast.model.ids import NO_EPOCH, ActorId, ClientId, Epoch, SessionId
from holdfast.model.inputs import MAX_INPUT, InputKind
from holdfast.sdk.events import Noted
from holdfast.sdk.routes import Way
from holdfast.sdk.view import View
from holdfast.wire.codec import Message
from holdfast.wire.messages import Attached, Deny, Event, Mode, TurnPassed

LATE = 0.25
"""Seconds for an answer that nobody wants any more: less than anybody notices."""

MAX_TRIES = 4
"""Times that an input is submitted while our own doings move the turn."""

MAX_NOTED = 16
"""Events kept for somebody who asks later; older ones are given up."""

Kind = TypeVar("Kind")


class _Asked(Generic[Kind]):
    """A question that is asked, and who waits for the answer."""

    def __init__(self, question: SessionQuestion[Kind]) -> None:
        self._inquiry = Inquiry(question, 0.0)
        self.answer: asyncio.Future[Kind] = asyncio.get_running_loop().create_future()

    def messages(self) -> list[Message]:
        """Return what to send: it is asked, or asked again, from the beginning."""
        return self._inquiry.linked(0.0)

    def hear(self, message: Message) -> list[Message]:
        """Take a part of the answer; return what to send if it is asked again."""
        if self.answer.done():
            return []
        try:
            again = self._inquiry.hear(message, 0.0)
        except HoldfastError as error:
            self.answer.set_exception(error)
            return []
        if self._inquiry.result is not None:
            self.answer.set_result(self._inquiry.result)
        return again

    def fail(self, error: HoldfastError) -> None:
        """Take that nobody answers."""
        if not self.answer.done():
            self.answer.set_exception(error)


class Line:
    """One client's standing attachment to a session."""

    def __init__(
        self,
        way: Way,
        session: SessionId,
        mode: Mode,
        tasks: asyncio.TaskGroup,
        client: ClientId | None = None,
    ) -> None:
        self._way = way
        self._tasks = tasks
        self._attachment = attachment_to(session, mode, client)
        self.noted: deque[Noted] = deque(maxlen=MAX_NOTED)
        """What the holder told of by itself, the oldest first."""

        self._users = 0
        self._has_left = False
        self._epoch = NO_EPOCH
        self._foreign = NO_EPOCH
        """The last epoch in which somebody else may have had the turn."""

        self._is_over = False
        """Whether the session has ended, and has nobody any more who answers."""

        self._task: asyncio.Task[None] | None = None
        self._attached: asyncio.Future[View] | None = None
        self._asking = asyncio.Lock()
        self._question: _Asked[Any] | None = None
        self._inputs: dict[int, asyncio.Future[None]] = {}
        self._signed = asyncio.Event()
        """Whether no statement is on its way."""

    @property
    def us(self) -> ActorId:
        """Who we are to the session."""
        return self._attachment.us or self._way.us

    @property
    def is_open(self) -> bool:
        """Whether somebody uses it, or it is still being closed."""
        return self._task is not None and not self._task.done()

    async def enter(self) -> None:
        """Attach, unless that is so already. Each `enter` needs a `leave`.

        Raises:
            Unavailable: The session cannot be reached.
            Forbidden: We may not attach.

        """
        self._users += 1
        try:
            await self._linked()
        except BaseException:
            await self.leave()
            raise

    async def leave(self) -> None:
        """Detach, unless somebody else uses the line."""
        self._users -= 1
        if self._users == 0:
            await self.sign_off()
        task = self._task
        # Somebody may have come while we signed.
        if self._users == 0 and task is not None:
            self._detach()
            # It says goodbye to nobody, and so is soon done.
            await asyncio.wait({task})

    async def sign_off(self) -> None:
        """Sign what we have sent and not signed, before we leave.

        What fails here is no error: it is on record that it is not signed.
        """
        signing, attached = self._attachment.signing, self._attached
        if signing.is_done or attached is None or not self.is_open:
            return
        with contextlib.suppress(HoldfastError, TimeoutError):
            async with asyncio.timeout(SIGNATURE):
                view = await asyncio.shield(attached)
                while not (signing.is_done or signing.is_put_off):
                    self._signed.clear()
                    await self._sign(view)
                    if signing.is_awaited:
                        await self._signed.wait()

    async def _sign(self, view: View) -> None:
        said = self._attachment.signing.sign(await self._way.pen())
        if said is not None:
            await self._send(view, said)

    def hang_up(self) -> None:
        """Detach for good, whoever uses the line."""
        self._has_left = True
        self._detach()

    def _detach(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._end(self._left())

    def _left(self) -> SessionUnreachable:
        return SessionUnreachable(self._attachment.session, "we have left its host")

    async def ask(self, question: SessionQuestion[Kind]) -> Kind:
        """Ask something, and return the answer.

        Raises:
            Unavailable: There is no answer, or nobody to give one.
            HoldfastError: It was refused, and why.

        """
        async with self._asking:
            try:
                async with asyncio.timeout(question.patience):
                    return await self._answered(_Asked(question))
            except TimeoutError:
                waited = round(question.patience * 1000)
                raise WaitedInVain("an answer of the session", waited) from None

    async def _answered(self, asked: _Asked[Kind]) -> Kind:
        view = await self._linked()
        self._question = asked
        try:
            await self._send(view, *asked.messages())
            return await asyncio.shield(asked.answer)
        except asyncio.CancelledError:
            # Most answers are on their way: waited for, they cost us no link.
            done, _ = await asyncio.wait({asked.answer}, timeout=LATE)
            for answer in done:
                answer.exception()  # Nobody else looks at it.
            raise
        finally:
            self._question = None
            if not asked.answer.done():
                self._cut()  # What is answered late is nobody's answer.

    async def submit(
        self,
        kind: InputKind,
        payload: bytes,
        timeout: float,
        approval: float = APPROVAL,
    ) -> int:
        """Make inputs of `payload`, and return when the terminal has taken them all.

        What is returned is the stream's end just before. What nobody approves within
        `approval` seconds is taken back.

        Raises:
            HoldfastError: One was refused, and why; later ones were not sent.
            Unsettled: There is no answer to one.

        """
        begun_at = (await self._linked()).end
        for start in range(0, len(payload), MAX_INPUT):
            piece = payload[start : start + MAX_INPUT]
            await self._insist(kind, piece, (timeout, approval))
        return begun_at

    async def begun(self, text: bytes, timeout: float) -> None:
        """Wait until the command of the session has begun, which we asked for.

        Raises:
            Forbidden: It was refused, and why.
            Unavailable: Nobody approved it in `timeout` seconds; it is withdrawn.

        """
        try:
            async with asyncio.timeout(timeout):
                await self._submit(InputKind.START, text, (timeout, timeout))
        except (TimeoutError, ApprovalPending):
            await self.withdraw()
            raise ApprovalTimeout(round(timeout)) from None

    async def withdraw(self) -> None:
        """Take back what of ours waits for somebody's approval, if anything does."""
        waits = self._attachment.pending
        if waits is not None:
            view = await self._linked()
            await self._send(view, Deny(waits.ticket, waits.digest))

    # ── inputs ────────────────────────────────────────────────────────────

    async def _insist(
        self, kind: InputKind, payload: bytes, within: tuple[float, float]
    ) -> None:
        """Submit it again if it was refused for no more than our own doings."""
        for _ in range(MAX_TRIES - 1):
            epoch = self._attachment.epoch
            try:
                return await self._submit(kind, payload, within)
            except (StaleEpoch, NotYourTurn):
                if not self._is_own_doing(epoch):
                    raise
        return await self._submit(kind, payload, within)

    def _is_own_doing(self, epoch: Epoch) -> bool:
        """Tell whether the turn has moved since then, and nobody else had it.

        A command of ours drops the turn that it took; and an input may have taken the
        free turn when its holder died before it wrote the input.
        """
        attachment = self._attachment
        is_ours = attachment.holder in ("", attachment.us)
        return is_ours and self._foreign <= epoch < attachment.epoch

    async def _submit(
        self, kind: InputKind, payload: bytes, within: tuple[float, float]
    ) -> None:
        loop = asyncio.get_running_loop()
        patience = Patience(loop.time() + within[0], within[1])
        view = await self._linked()
        made = self._attachment.submit(kind, payload)
        answer: asyncio.Future[None] = loop.create_future()
        self._inputs[made.sequence] = answer
        try:
            await self._send(view, made)
            while True:
                now = loop.time()
                await self._send(view, *patience.look(self._attachment, now))
                if now >= patience.deadline:
                    break
                left = patience.deadline - now
                await asyncio.wait({answer}, timeout=min(RETRY, left))
                if answer.done():
                    return answer.result()
                await self._again()
        finally:
            self._inputs.pop(made.sequence, None)
        if (waits := self._attachment.pending) is not None:
            raise ApprovalPending(waits.ticket, waits.rule)
        raise OutcomeUnknown(made.client, made.sequence)

    async def _again(self) -> None:
        """Send again what the holder had no room for."""
        attached = self._attached
        if self._attachment.is_stalled and attached is not None and attached.done():
            await self._send(await self._linked(), *self._attachment.open)

    # ── the link ──────────────────────────────────────────────────────────

    async def _linked(self) -> View:
        """Return the view once it is attached."""
        if self._has_left:
            raise self._left()
        if self._task is None or self._task.done():
            if self._is_over:
                raise SessionOver("exited")
            self._start()
        assert self._attached is not None  # noqa: S101  # _start has made it
        return await asyncio.shield(self._attached)

    def _start(self) -> None:
        self._attached = asyncio.get_running_loop().create_future()
        self._task = self._tasks.create_task(self._keep(self._attached))

    def _cut(self) -> None:
        """Begin anew on another link."""
        if self._task is not None and not self._has_left:
            self._task.cancel()
            self._start()

    async def _keep(self, attached: asyncio.Future[View]) -> None:
        """Read what comes, on one link after the other."""
        async with View(self._way, self._attachment, from_now=True) as view:
            loop = asyncio.get_running_loop()
            try:
                while True:
                    within = self._attachment.signing.wait(loop.time())
                    message = await view.next(within)
                    if message is None:
                        await self._sign(view)
                    elif isinstance(message, Attached):
                        self._watch_turn(message)
                        await self._begin(view, attached)
                    else:
                        self._watch_turn(message)
                        await self._send(view, *self._hear(message))
            except HoldfastError as error:
                self._is_over = view.is_over
                if not attached.done():
                    attached.set_exception(error)
                    attached.exception()  # Nobody may have waited for it.
                self._end(error)

    def _watch_turn(self, message: Message) -> None:
        """Take note of turns that were not ours, or that we cannot know of."""
        if not isinstance(message, Attached | TurnPassed):
            return
        is_other = message.holder not in ("", self._attachment.us)
        # After a cut one step is known by where it has led, and more are not.
        is_unseen = message.epoch > self._epoch + 1
        if is_other or is_unseen:
            self._foreign = message.epoch
        self._epoch = message.epoch

    async def _begin(self, view: View, attached: asyncio.Future[View]) -> None:
        if not attached.done():
            attached.set_result(view)
        elif self._question is not None:
            await self._send(view, *self._question.messages())

    def _hear(self, message: Message) -> list[Message]:
        answer = self._attachment.answered(message)
        if answer is not None:
            sequence, error = answer
            waiting = self._inputs.get(sequence)
            if waiting is not None and not waiting.done():
                if error is None:
                    waiting.set_result(None)
                else:
                    waiting.set_exception(error)
        if isinstance(message, Event):
            self.noted.append(Noted(message.name, dict(message.fields)))
        if not self._attachment.signing.is_awaited:
            self._signed.set()
        return [] if self._question is None else self._question.hear(message)

    def _end(self, error: HoldfastError) -> None:
        if self._question is not None:
            self._question.fail(error)
        for sequence, waiting in self._inputs.items():
            if not waiting.done():
                lost = OutcomeUnknown(self._attachment.client, sequence)
                lost.__cause__ = error
                waiting.set_exception(lost)

    async def _send(self, view: View, *messages: Message) -> None:
        """Send on the present link; what is lost with it is sent on the next."""
        if messages and view.link is not None:
            with contextlib.suppress(SessionUnreachable):
                await view.link.send(*messages)
