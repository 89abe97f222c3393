"""How does a session get its screen again after a painter died?

From the keyframe or the start of the window, without the bytes that two
painters have not survived.
"""

from dataclasses import dataclass

from holdfast.model.errors import PainterDied
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.painter.client import Painter
from holdfast.painter.packets import MAX_DATA
from holdfast.term.stains import Stains, Stretch

MAX_DEATHS = 6
"""Painters given up for one painting: enough for three bad places. A session
that has more gets its screen at a later try, and the machine gets its rest."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a window still holds, and a picture of what was before it."""

    size: Size
    start: int
    output: bytes
    keyframe: bytes = b""


def repaint(
    painter: Painter, session: SessionId, source: Source, stains: Stains
) -> None:
    """Paint a session anew, with as many painters as it takes.

    Afterwards `stains.degraded` tells whether something was left out.

    Raises:
        Unavailable: MAX_DEATHS painters died over it.

    """
    stains.rolled(source.start)
    deaths = 0
    while True:
        try:
            _paint(painter, session, source, stains)
        except PainterDied:
            deaths += 1
            if deaths == MAX_DEATHS:
                raise
        else:
            return


def _paint(
    painter: Painter, session: SessionId, source: Source, stains: Stains
) -> None:
    painter.reset(session, source.size, source.start, source.keyframe)
    end = source.start + len(source.output)
    at = source.start
    for part in stains.clear(source.start, end):
        if part.start > at:
            painter.skip(session, part.start)
        for start in range(part.start, part.end, MAX_DATA):
            stretch = Stretch(start, min(start + MAX_DATA, part.end))
            _feed(painter, session, source, stretch, stains)
        at = part.end
    if at < end:
        painter.skip(session, end)


def _feed(
    painter: Painter,
    session: SessionId,
    source: Source,
    stretch: Stretch,
    stains: Stains,
) -> None:
    data = source.output[stretch.start - source.start : stretch.end - source.start]
    try:
        painter.feed(session, stretch.start, data)
    except PainterDied:
        stains.died(stretch.start, stretch.end)
        raise
    stains.painted(stretch.end)
