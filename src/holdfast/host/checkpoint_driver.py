"""Makes images of capsules from time to time, as the settings or a session say.

core/capsule/checkpoint_pace.py decides; here capsules are looked at, without waking
any, and an image is asked for in the name of an operator, `checkpoints`. The session's
holder keeps images within the bounds of the settings, as after every checkpoint.
"""

import asyncio
import time

from holdfast.aio.log import log
from holdfast.core.capsule.checkpoint_pace import CheckpointPace, Counts, Seen
from holdfast.host import holder_request
from holdfast.host.copy_courier import CopyCourier
from holdfast.host.guests import Guest
from holdfast.host.idle_look import IdleLook, Looked
from holdfast.linux.stored import checkpoint_paces, config
from holdfast.linux.stored.service_operators import service
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.model.session_record import CAPSULE

NAME = "checkpoints"

LOOKS = 10
"""Looks in the shortest time between two images."""

FASTEST, SLOWEST = 1.0, 60.0
"""Seconds between two looks."""

PATIENCE = 600.0
"""Seconds for an image to be made."""


class CheckpointDriver:
    """The images that this host makes unasked."""

    def __init__(self) -> None:
        self._courier = CopyCourier()
        self._look = IdleLook()
        self._pace = CheckpointPace()
        self._group: asyncio.TaskGroup

    async def run(self) -> None:
        """Look, and make images, until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            self._group.create_task(self._courier.run())
            while True:
                try:
                    wait = await self._round()
                except (HoldfastError, OSError) as error:
                    log("checkpoints.blind", why=str(error))
                    wait = SLOWEST
                await asyncio.sleep(wait)

    async def _round(self) -> float:
        usual, chosen = await asyncio.to_thread(_wanted)
        spans = [one for one in (usual, *chosen.values()) if one > 0]
        if not spans:
            return SLOWEST / LOOKS
        looked = await asyncio.to_thread(self._look.look, people=True)
        seen = []
        for one in looked:
            every = chosen.get(one.id, usual)
            if every > 0 and one.record.runtime == CAPSULE:
                is_able = one.record.state == "running"
                seen.append(Seen(one.id, every, _counts(one), is_able))
        due = self._pace.look(seen, time.monotonic())
        if due is not None:
            self._group.create_task(self._make(due))
        return min(max(min(spans) / LOOKS, FASTEST), SLOWEST)

    async def _make(self, session: SessionId) -> None:
        rights = (Right.OBSERVE, Right.CHECKPOINT)
        try:
            async with asyncio.timeout(PATIENCE):
                guest = Guest(await asyncio.to_thread(service, NAME, *rights))
                told = await holder_request.image(guest, session, stop=False)
                looked = await asyncio.to_thread(self._look.look, people=True)
        except (HoldfastError, OSError, TimeoutError) as error:
            log("session.not_imaged", session=session, why=str(error))
            self._pace.failed(session, time.monotonic())
            return
        after = [_counts(one) for one in looked if one.id == session]
        self._pace.made(session, after[0] if after else None, time.monotonic())
        log("session.imaged", session=session, image=told.image, size=told.size)
        self._courier.made(told.image)


def _wanted() -> tuple[float, dict[SessionId, float]]:
    """Return how often images are made, usually and where somebody chose that."""
    usual = 0.0
    if config.mentions(b"checkpoints"):
        usual = config.settings().host.checkpoints_every
    return usual, checkpoint_paces.chosen()


def _counts(one: Looked) -> Counts:
    return Counts(one.activity.output_bytes, one.activity.cpu_ticks)
