"""Whatever is cut, the page says so, comes back by itself, and types nothing twice."""

import os
from pathlib import Path

from tests.web.browsing import DESKTOP, PHONE, Browser
from tests.web.world import World


def test_a_page_is_attached_again_after_its_relay_was_killed(
    chromium: Browser, here: World, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    here.shell("cut")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-cut"))
    page.open("cut")
    page.enter(f"(cat {tmp_path}/pipe; echo meanwhile-$((1+1))) & echo before-$((1+1))")
    page.see_printed("before-2")

    here.kill_relay()
    page.see("text=Not connected")
    (tmp_path / "pipe").write_text("")
    page.lose("text=Not connected")
    page.see_printed("meanwhile-2")
    page.enter("echo after-$((1+1))")
    page.see_printed("after-2")


def test_what_is_typed_while_the_link_is_down_runs_once(
    chromium: Browser, here: World
) -> None:
    here.shell("once")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-once"))
    page.open("once")
    page.enter("n=0; echo be''gun")
    page.see_printed("begun")

    here.kill_relay()
    page.enter("n=$((n+1)); echo count-$n.")
    page.see_printed("count-1.")
    assert not here.shows("once", "count-2.")


def test_a_page_that_was_opened_before_opens_without_a_network(
    chromium: Browser, here: World
) -> None:
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-offline"))
    page.wait("navigator.serviceWorker.ready.then(() => true)")
    page.do("reload")
    page.see(".host")

    page.do("context.setOffline", True)  # noqa: FBT003  # as Playwright has it
    page.do("reload")
    page.see(".host >> text=Not connected")
    page.do("context.setOffline", False)  # noqa: FBT003  # ditto
    page.lose("text=Not connected")


def test_nothing_but_the_shell_of_the_page_is_kept(
    chromium: Browser, here: World
) -> None:
    here.shell("kept")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-kept"))
    page.open("kept")
    page.wait("navigator.serviceWorker.ready.then(() => true)")

    found = page.do(
        "evaluate",
        """(async () => {
          const kept = [];
          for (const name of await caches.keys())
            for (const request of await (await caches.open(name)).keys())
              kept.push(new URL(request.url).pathname);
          return { kept, stored: Object.keys(localStorage), cookie: document.cookie };
        })()""",
    )
    assert all(path == "/" or path.startswith("/assets/") for path in found["kept"])
    assert sorted(found["stored"]) == ["holdfast.keys", "holdfast.look"]
    assert found["cookie"] == ""


def test_a_session_that_ended_says_how(chromium: Browser, here: World) -> None:
    here.shell("ended")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-ended"))
    page.open("ended")

    page.enter("exit 3")
    page.see("text=Exited with status 3")
