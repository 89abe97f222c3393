"""Reports on request what prevents a checkpoint of a session.

A capsule is looked at one process after the other, in between the holder's other work.
A client that asks meanwhile gets the next answer, so that none gets one that is older
than the question.
"""

import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from holdfast.holder.links.connection import Connection
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux.process_table import SLICE
from holdfast.model.errors import GraphUnavailable
from holdfast.wire import preflights
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import fitting

if TYPE_CHECKING:
    from holdfast.core.capsule.capsule_facts import CapsuleFacts
    from holdfast.core.capsule.preflight import Judgement

MAX_ASKING = 64
"""Clients that wait for an answer; the rest are told to ask later."""


class PreflightReport:
    """Answers whether one session could be checkpointed."""

    def __init__(
        self,
        descriptors: SessionDescriptors,
        timers: Timers,
        is_frozen: Callable[[], bool],
    ) -> None:
        self._descriptors = descriptors
        self._is_frozen = is_frozen
        self._timer = timers.add(self.tick)
        self._asking: list[Connection] = []
        self._served: list[Connection] = []
        self._looking: Iterator[CapsuleFacts | None] | None = None

    def ask(self, connection: Connection) -> None:
        """Tell a client what is in the way, as soon as it is known."""
        capsule = self._descriptors.held.capsule
        if capsule is None or not capsule.first:
            connection.send(told(_rules().NO_CAPSULE))
            return
        waiting = [*self._asking, *self._served]
        if connection in waiting or connection.is_behind:
            why = "the last answer has not been taken yet"
        elif len(waiting) >= MAX_ASKING:
            why = f"{MAX_ASKING} clients wait for one"
        else:
            self._asking.append(connection)
            self._timer.set(0.0)
            return
        refused = refusal(GraphUnavailable(why), FrameKind.PREFLIGHT_REQUEST)
        connection.send(refused)

    def tick(self, _now: float) -> None:
        """Go on looking for a moment; when it is done, tell."""
        until = time.monotonic() + SLICE
        if self._looking is None:
            if not self._asking:
                return
            self._served, self._asking = self._asking, []
            self._looking = self._look()
        for found in self._looking:
            if found is not None:
                self._tell(found)
                return
            if time.monotonic() >= until:
                break
        self._timer.set(0.0)

    def _look(self) -> "Iterator[CapsuleFacts | None]":
        descriptors = self._descriptors
        record = descriptors.held.capsule
        assert record is not None  # noqa: S101  # `ask` has seen to it
        # Few sessions are ever asked, and every holder would have it in memory.
        from holdfast.linux.criu.engine import Site  # noqa: PLC0415  # see above
        from holdfast.linux.criu.survey import survey  # noqa: PLC0415  # see above

        return survey(
            Site(record, descriptors.capsule[0]),
            is_frozen=self._is_frozen(),
            is_gated=bool(descriptors.gate),
        )

    def _tell(self, found: "CapsuleFacts") -> None:
        message = told(_rules().judge(found))
        for connection in self._served:
            if not connection.is_closed:
                connection.send(message)
                connection.pump()
        self._looking, self._served = None, []
        self._timer.set(0.0 if self._asking else None)


def _rules() -> ModuleType:
    from holdfast.core.capsule import preflight  # noqa: PLC0415  # as in `_look`

    return preflight


def told(judged: "Judgement") -> preflights.Preflight:
    """Return a judgement as it travels."""
    blockers = judged.blockers[: preflights.MAX_BLOCKERS]
    cuts = judged.cuts[: preflights.MAX_CUTS]
    return preflights.Preflight(
        blockers=tuple(
            preflights.Blocker(
                kind=one.kind.value,
                what=_fitting(one.what),
                why=_fitting(one.why),
                remedy=_fitting(one.remedy),
                pid=one.pid,
                program=_fitting(one.program),
                descriptor=one.descriptor if one.descriptor >= 0 else None,
            )
            for one in blockers
        ),
        cuts=tuple(
            preflights.Cut(
                pid=one.pid,
                program=_fitting(one.program),
                descriptor=one.descriptor,
                peer=_fitting(one.peer),
            )
            for one in cuts
        ),
        unlisted=len(judged.blockers) - len(blockers) + len(judged.cuts) - len(cuts),
    )


def _fitting(text: str) -> str:
    return fitting(text, preflights.MAX_WHAT)
