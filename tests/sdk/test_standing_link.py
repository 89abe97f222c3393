import asyncio

import pytest
from tests.sdk.support import go

from holdfast.aio.holder_link import Stream
from holdfast.core.client.holder_link import Credentials
from holdfast.core.client.signing import Pen
from holdfast.model.errors import OutcomeUnknown, SessionUnreachable
from holdfast.model.ids import NO_EPOCH, ActorId, Incarnation, Index, SessionId
from holdfast.model.inputs import InputKind
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import Request
from holdfast.sdk.near_route import Near
from holdfast.sdk.standing_link import Line
from holdfast.wire.codec import Message, decode, encode
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.frames import FrameReader
from holdfast.wire.messages import (
    Acknowledge,
    Attach,
    Attached,
    Cells,
    Challenge,
    ClientKind,
    Hello,
    Mode,
    Submit,
    Welcome,
)
from holdfast.wire.versions import SPOKEN

SESSION = SessionId("s_" + "a" * 16)
US = ActorId("a_" + "a" * 32)
END = 10

ATTACHED = Attached(
    session=SESSION,
    name="web",
    incarnation=Incarnation(1),
    epoch=NO_EPOCH,
    holder=ActorId(""),
    start=0,
    end=END,
    state="running",
    size=Cells(80, 24),
    operators=(),
)


class Holder:
    """A link to a holder that says `printed` once it is attached to.

    It dies with the first input, acknowledges each, or says nothing to any.
    """

    def __init__(
        self, *printed: Message, is_mortal: bool, is_silent: bool = False
    ) -> None:
        self._is_silent = is_silent
        self.heard: list[Message] = []
        self._printed = printed
        self._is_mortal = is_mortal
        self._reader = FrameReader()
        self._said: asyncio.Queue[bytes] = asyncio.Queue()

    async def send(self, data: bytes) -> None:
        for message in map(decode, self._reader.feed(data)):
            self.heard.append(message)
            match message:
                case Hello():
                    self._say(Welcome(SPOKEN[0], "test"), Challenge(bytes(32)))
                case CommandRequest():
                    self._say(CommandReport("prompt", None))
                case Attach():
                    self._say(ATTACHED, *self._printed)
                case Submit() if self._is_silent:
                    pass
                case Submit() if self._is_mortal:
                    self._said.put_nowait(b"")
                case Submit(client=client, sequence=sequence):
                    self._say(Acknowledge(client, sequence, Index(3), None))
                case _:
                    pass

    async def receive(self) -> bytes:
        return await self._said.get()

    async def close(self) -> None:
        self._said.put_nowait(b"")

    def _say(self, *messages: Message) -> None:
        self._said.put_nowait(b"".join(map(encode, messages)))


class Road(Near):
    """A way to one holder after the other, and then to none."""

    def __init__(self, *holders: Holder) -> None:
        self.name = ""
        self.us = US
        self.is_personal = True
        self.slowness = 1.0
        self.program = ClientKind.SDK
        self._holders = list(holders)

    async def dial(self, session: SessionId) -> Stream:
        assert session == SESSION
        if not self._holders:
            raise SessionUnreachable(session, "nobody is there")
        return self._holders.pop(0)

    def credentials(self, session: SessionId) -> Credentials:
        del session
        return Credentials(self.us, self.program, bytes)

    async def pen(self) -> Pen | None:
        return None

    def is_called(self, session: SessionId, name: str) -> bool:
        raise AssertionError((session, name))

    async def ask(self, asked: Request) -> Facts:
        raise AssertionError(asked)

    async def close(self) -> None:
        pass


def test_an_input_whose_answer_was_lost_is_asked_for_again_and_not_sent_as_new() -> (
    None
):
    first, second = Holder(is_mortal=True), Holder(is_mortal=False)

    async def story() -> int:
        async with asyncio.TaskGroup() as tasks:
            line = Line(Road(first, second), SESSION, Mode.OPERATE, tasks)
            await line.enter()
            offset = await line.submit(InputKind.KEYS, b"once", 5)
            await line.leave()
        return offset

    assert go(story()) == END
    sent = [one for one in first.heard if isinstance(one, Submit)]
    assert [one for one in second.heard if isinstance(one, Submit)] == sent
    assert len(sent) == 1


def test_an_input_whose_holder_stays_away_is_unsettled_at_the_deadline() -> None:
    first = Holder(is_mortal=True)

    async def story() -> str:
        async with asyncio.TaskGroup() as tasks:
            line = Line(Road(first), SESSION, Mode.OPERATE, tasks)
            await line.enter()
            with pytest.raises(OutcomeUnknown) as unknown:
                await line.submit(InputKind.KEYS, b"once", 0.5)
            await line.leave()
        return unknown.value.code

    assert go(story()) == "outcome-unknown"


def test_an_input_that_is_not_answered_is_unsettled_at_the_deadline() -> None:
    silent = Holder(is_mortal=False, is_silent=True)

    async def story() -> float:
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks, asyncio.timeout(10):
            line = Line(Road(silent), SESSION, Mode.OPERATE, tasks)
            await line.enter()
            begun_at = loop.time()
            with pytest.raises(OutcomeUnknown):
                await line.submit(InputKind.KEYS, b"once", 0.3)
            waited = loop.time() - begun_at
            await line.leave()
        return waited

    assert go(story()) >= 0.3


def test_an_input_whose_link_has_ended_for_good_is_not_waited_for() -> None:
    async def story() -> None:
        road = Road(Holder(is_mortal=True))
        road.slowness = 0.02
        async with asyncio.TaskGroup() as tasks, asyncio.timeout(10):
            line = Line(road, SESSION, Mode.OPERATE, tasks)
            await line.enter()
            with pytest.raises(OutcomeUnknown):
                await line.submit(InputKind.KEYS, b"once", 600)
            await line.leave()

    go(story())


def test_who_waits_for_a_link_hears_that_we_have_left() -> None:
    async def story() -> list[str]:
        heard: list[str] = []

        async def enter() -> None:
            with pytest.raises(SessionUnreachable) as gone:
                await line.enter()
            heard.append(str(gone.value))

        async with asyncio.TaskGroup() as tasks, asyncio.timeout(10):
            line = Line(Road(), SESSION, Mode.OPERATE, tasks)
            entering = tasks.create_task(enter())
            await asyncio.sleep(0.1)
            await line.hang_up()
            await entering
            await enter()
        return heard

    heard = go(story())
    assert len(heard) == 2
    assert all("we have left its host" in one for one in heard)


def test_who_comes_while_somebody_leaves_has_a_link_of_its_own() -> None:
    first = Holder(is_mortal=False, is_silent=True)
    second = Holder(is_mortal=False)

    async def story() -> int:
        async with asyncio.TaskGroup() as tasks, asyncio.timeout(10):
            line = Line(Road(first, second), SESSION, Mode.OPERATE, tasks)
            await line.enter()
            with pytest.raises(OutcomeUnknown):
                await line.submit(InputKind.KEYS, b"lost", 0.1)
            leaving = tasks.create_task(line.leave())  # It waits for the answer.
            await asyncio.sleep(0.05)
            await asyncio.gather(line.enter(), line.enter())
            offset = await line.submit(InputKind.KEYS, b"again", 5)
            await leaving
            await line.leave()
            await line.leave()
        return offset

    assert go(story()) == END
    assert any(isinstance(one, Submit) for one in second.heard)
