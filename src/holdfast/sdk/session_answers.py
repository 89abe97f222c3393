"""A session's answers, as the SDK has them."""

from holdfast.core.client.questions import Done
from holdfast.core.client.screen_question import Seen
from holdfast.sdk.values import Cursor, Screen, Standing, State
from holdfast.wire.evidence import Evidence


def state_from(seen: Evidence) -> State:
    """Return what a session does, from the evidence."""
    return State(
        seen.state,
        seen.sure,
        tuple(seen.why),
        seen.foreground,
        seen.echo,
        seen.canonical,
        seen.unread,
        tuple(seen.sleepers),
        seen.program,
    )


def standing_from(done: Done) -> Standing:
    """Return how things stand, from what the holder says."""
    told = done.presence
    return Standing(
        done.us,
        told.present,
        told.holder,
        told.epoch,
        told.waiting,
        told.frozen,
        told.pending,
        tuple(told.rights),
        done.inherited,
    )


def screen_from(seen: Seen) -> Screen:
    """Return what a session shows."""
    shown = seen.screen
    return Screen(
        shown.lines,
        Cursor(shown.cursor_row, shown.cursor_column, shown.cursor_visible),
        shown.hidden,
        shown.size,
        shown.title,
        seen.offset,
        shown.above,
        seen.exact,
        shown.alternate,
    )
