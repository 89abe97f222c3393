"""A browser that has joined several hosts sees them all, each for itself."""

from pathlib import Path

from tests.scenarios.elsewhere import places
from tests.scenarios.relays import relay
from tests.web.browsing import DESKTOP, Browser


def test_the_sessions_of_two_hosts_are_listed_under_their_own(
    chromium: Browser, tmp_path: Path
) -> None:
    with relay(tmp_path, "--web") as meeting, places() as (one, other):
        page = chromium.page("anna", DESKTOP)
        for place, name in ((one, "first"), (other, "second")):
            place.up(meeting.url)
            place.new("cat", name=name)
            page.join(place.invite("--as", f"anna-{name}"))

        page.see('.host:not(:has-text("second")) >> .session-name:text-is("first")')
        page.see('.host:not(:has-text("first")) >> .session-name:text-is("second")')
        one.do("down")
        page.see(".host:not(:has-text('second')) >> text=Not connected")
        page.open("second")
        page.enter("still here")
        page.see_printed("still here")
