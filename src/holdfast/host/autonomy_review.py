"""Takes back autonomy that was earned, when the figures turn bad.

From time to time the host reads what was added to the logbooks, and makes every step
back that `core.autonomy.steps` demands. It never makes one up. Where no step was ever
made there is nothing to take back, and no logbook is read.
"""

import asyncio

from holdfast.aio.log import log
from holdfast.core.autonomy.ladder import ladder_from
from holdfast.core.autonomy.steps import retreats
from holdfast.linux.stored import ladder_steps, policy_files
from holdfast.linux.stored.act_traces import ActTraces
from holdfast.linux.stored.autonomy_state import autonomy_state
from holdfast.model.errors import HoldfastError

EVERY = 20.0
"""Seconds between two looks: an agent does a few things in that time."""


class AutonomyReview:
    """What the host knows of the acts on it."""

    def __init__(self) -> None:
        self._traces = ActTraces()

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            try:
                made = await asyncio.to_thread(self.look)
            except (HoldfastError, OSError) as error:
                log("autonomy.review_failed", why=str(error))
                continue
            if made:
                log("autonomy.taken_back", count=made)

    def look(self) -> int:
        """Make every step back that is due; return how many there were.

        Raises:
            HoldfastError: The policy or a book cannot be read, or a step not be made.

        """
        applied = policy_files.load(policy_files.seal_key())
        if not ladder_from(applied.ladder).rungs:
            return 0
        self._traces.look()
        state = autonomy_state(self._traces)
        due = retreats(state.score, state.ladder, state.ceilings)
        for step in due:
            ladder_steps.make(step, None)
        return len(due)
