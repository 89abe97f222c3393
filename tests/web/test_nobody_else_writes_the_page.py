"""Titles, names, paths, links and output of strangers are text, and nothing else."""

import functools
import json
import os
import threading
import urllib.request
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.web.browsing import DESKTOP, Browser, Page
from tests.web.payloads import payloads
from tests.web.world import World

HARMED = "window.__harmed === undefined"


def is_unharmed(page: Page) -> bool:
    """Tell whether nothing of a stranger's ran, or became part of the page."""
    foreign = (
        "script:not([src^='/assets/']), iframe, object, embed, base, video, svg script"
    )
    count = page.do(
        "evaluate", f"document.querySelectorAll({json.dumps(foreign)}).length"
    )
    return bool(page.do("evaluate", HARMED)) and count == 0


def test_there_are_two_hundred_payloads() -> None:
    assert len(set(payloads())) == 200


def test_output_titles_and_links_of_a_program_are_only_shown(
    chromium: Browser, here: World, tmp_path: Path
) -> None:
    said = b"".join(
        b"\x1b]0;%b\x07\x1b]2;%b\x07\x1b]8;;javascript:%b\x07x\x1b]8;;\x07 %b\r\n"
        % ((one.encode(),) * 4)
        for one in payloads()
    )
    (tmp_path / "said").write_bytes(said + b"\r\nall was said\r\n")
    here.shell("titles")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-titles"))
    page.open("titles")

    page.enter(f"clear; cat {tmp_path}/said")
    page.see_printed("all was said")
    assert is_unharmed(page)
    page.do("click", "[aria-label='All sessions']")
    page.see('.session-name:text-is("titles")')
    assert is_unharmed(page)
    assert page.trouble() == []


def test_a_link_to_anything_but_a_web_page_does_nothing(
    chromium: Browser, here: World
) -> None:
    here.shell("links")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-links"))
    page.open("links")
    page.print_link("javascript:window.__harmed=1", "PRESS")

    page.press_printed("PRESS")
    assert is_unharmed(page)
    assert page.do("isVisible", "text=Open this page?") is False


def test_a_link_is_opened_only_after_its_address_was_read(
    chromium: Browser, here: World
) -> None:
    here.shell("read")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-read"))
    page.open("read")
    page.print_link("https://evil.example/a", "bank.example")

    page.press_printed("bank.example")
    page.see(".dialog >> text=evil.example")
    page.press("Stay here")
    assert page.trouble() == []


def test_a_command_that_waits_for_approval_is_only_shown(
    chromium: Browser, here: World
) -> None:
    here.policy('[[rule]]\nname = "ask"\nverdict = "ask"\nkind = "agent"\n')
    here.shell("held")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-held"))
    page.open("held")
    agent = here.asks("held", "echo '<img src=x onerror=window.__harmed=1>'")

    page.press("Review")
    page.see(".approval-what >> text=<img src=x onerror=window.__harmed=1>")
    harmless, trouble = is_unharmed(page), page.trouble()
    here.do("end", "held")
    agent.wait(20)
    assert harmless
    assert trouble == []


@pytest.mark.parametrize("part", range(4))
def test_paths_commands_and_logs_of_strangers_are_only_shown(
    chromium: Browser, here: World, tmp_path: Path, part: int
) -> None:
    texts = list(payloads())[part::4][:12]
    for number, text in enumerate(texts):
        folder = tmp_path / text.replace("/", "!")[:120]
        folder.mkdir(parents=True, exist_ok=True)
        name = f"x{part}-{number}"
        program = ("sh", "-c", 'cd "$1" && exec sleep 300', text, str(folder))
        here.new(*program, name=name)
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", f"anna-paths-{part}"))
    page.see(f'.session-name:text-is("x{part}-11")')

    page.open(f"x{part}-0")
    page.panel("Processes")
    page.see(".branch")
    page.panel("Logbook")
    page.see(".story-line")
    harmless, trouble = is_unharmed(page), page.trouble()
    here.end(*(f"x{part}-{number}" for number in range(len(texts))))
    assert harmless
    assert trouble == []


def test_the_page_forbids_everything_that_is_not_its_own(here: World) -> None:
    with urllib.request.urlopen(here.url, timeout=10) as answer:  # noqa: S310  # ours
        policy = answer.headers["Content-Security-Policy"]
        text = answer.read().decode()

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "<style" not in text
    assert text.count("<script") == text.count('<script type="module" crossorigin src=')


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[str]:
    """Serve a page of somebody else's, on this machine."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=os.fspath(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_page_of_another_origin_gets_nothing(
    chromium: Browser, here: World, foreign: str
) -> None:
    page = chromium.page("mallory", DESKTOP)
    page.goto(foreign)

    address = here.url.replace("http", "ws") + "/v1/operator"
    opened = page.do(
        "evaluate",
        f"""new Promise((done) => {{
          const link = new WebSocket({json.dumps(address)});
          link.onopen = () => done(true);
          link.onerror = () => done(false);
        }})""",
    )
    fetched = page.do(
        "evaluate",
        f"""fetch({json.dumps(here.url)}).then(() => true, () => false)""",
    )
    assert (opened, fetched) == (False, False)


def test_no_page_of_another_origin_frames_ours_or_keeps_a_hand_on_it(
    chromium: Browser, here: World, foreign: str
) -> None:
    page = chromium.page("mallory", DESKTOP)
    page.goto(foreign)

    page.do(
        "evaluate",
        f"""new Promise((done) => {{
          const frame = document.createElement('iframe');
          frame.src = {json.dumps(here.url)};
          frame.onload = () => done(true);
          document.body.append(frame);
        }})""",
    )
    assert not page.do("isVisible", "iframe >> internal:control=enter-frame >> #app")
    page.do("evaluate", f"void (window.__other = window.open({json.dumps(here.url)}))")
    page.wait("window.__other === null || window.__other.closed")
