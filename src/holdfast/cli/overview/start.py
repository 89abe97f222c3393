"""The overview's first picture, drawn before the rest is loaded.

What the keeper lists is on the screen first; what loads slowly, and what each session
does, comes after that.
"""

import time

from holdfast.cli.overview.screen import Left, Screen, raise_when_told
from holdfast.core.overview.acts import Resized, SessionsListed
from holdfast.core.overview.overview import Overview
from holdfast.core.overview.picture import Drawing
from holdfast.core.overview.sessions import row_from
from holdfast.linux import early_requests
from holdfast.wire.first_messages import NotOneOfThese


def run() -> int:
    """Show the overview until the user leaves it; return the exit status."""
    screen, overview = Screen(), Overview()
    overview.handle(Resized(*screen.size()), 0)
    _list(overview)
    raise_when_told()
    try:
        screen.take()
        screen.draw(Drawing(overview, time.time_ns() // 1_000_000).canvas)
        from holdfast.cli.overview.loop import go_on  # noqa: PLC0415  # slow to load

        return go_on(overview, screen)
    except Left as left:
        return 128 + left.number
    finally:
        screen.give_back()


def _list(overview: Overview) -> None:
    """Take what the keeper lists; without it the rest finds out why."""
    try:
        # What each does is asked next: all holders that are awake would have to
        # answer before there is a picture.
        listed = early_requests.listed(look=False)
    except (OSError, NotOneOfThese):
        return
    except Exception as error:
        from holdfast.model.errors import HoldfastError  # noqa: PLC0415  # slow to load

        if not isinstance(error, HoldfastError):
            raise
        return
    rows = tuple(row for row in map(row_from, listed) if row is not None)
    overview.handle(SessionsListed("", rows), 0)
