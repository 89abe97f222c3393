"""Screens that fake sessions show."""

from holdfast.wire.messages import Cells
from holdfast.wire.screens import Screen, ScreenHidden


def seen(
    text: str,
    *,
    more: bool = False,
    exact: bool = True,
    hidden: tuple[ScreenHidden, ...] = (),
) -> Screen:
    """Return a screen of 80 columns that says this."""
    return Screen(
        offset=1,
        size=Cells(80, 24),
        cursor_row=0,
        cursor_column=0,
        cursor_visible=True,
        title="",
        alternate=False,
        exact=exact,
        text=text,
        runs=(),
        hidden=hidden,
        above=0,
        more=more,
    )
