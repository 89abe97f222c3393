"""A page that shows a session goes on showing it when it moves to another host."""

import pytest
from tests.scenarios.leased import needs_cgroups
from tests.scenarios.movers import hosts
from tests.web.browsing import BUILT, DESKTOP, Browser

from holdfast.linux.criu import program

pytestmark = [
    needs_cgroups,
    pytest.mark.skipif(
        program.find().program is None, reason="there is no CRIU here: `make criu`"
    ),
]


def test_a_page_goes_on_at_the_other_host(chromium: Browser) -> None:
    with hosts(f"--web={BUILT}") as two:
        session = two.begin()
        page = chromium.page("anna", DESKTOP)
        page.join(two.alpha.invite("--as", "anna"))
        page.open("web")
        page.enter("n=40; echo said-$((n+1))")
        page.see_printed("said-41")
        here = page.do("evaluate", "location.hash")

        two.alpha.do("move", "web", "beta")
        page.enter("echo said-$((n+2))")
        page.see_printed("said-42")

        there = page.do("evaluate", "location.hash")
        assert there != here
        assert there.endswith(session)
        page.see("text=The session continues on beta")
        # What it is called here leads there at once.
        page.do("reload")
        page.see('.screen[data-painted="true"]')
        page.enter("echo said-$((n+3))")
        page.see_printed("said-43")
        # An address from before leads there as well.
        page.goto("about:blank")
        page.goto(f"{two.relay.url}/{here}")
        page.see('.screen[data-painted="true"]')
        page.enter("echo said-$((n+4))")
        page.see_printed("said-44")
        assert page.trouble() == []
