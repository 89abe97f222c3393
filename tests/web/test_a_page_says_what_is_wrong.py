"""What cannot be had is said on a card of its own, with what to do about it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, free_port
from tests.scenarios.odd_host import OddHost
from tests.scenarios.relays import Relay, relay
from tests.web.browsing import DESKTOP, PHONE, Browser, Page
from tests.web.world import World

from holdfast.model.ids import actor_id, host_id

SOME_SESSION = "s_aaaaaaaaaaaaaaaa"

OWN_KEY = """new Promise((done) => {
  indexedDB.open('holdfast').onsuccess = ({ target }) => {
    const keys = target.result.transaction('keys').objectStore('keys').get('own');
    keys.onsuccess = () => done([...keys.result.signingPublic]);
  };
})"""

KNOW = """new Promise((done) => {
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (one) => parseInt(one, 16));
  const { publicKey, staticKey, ...host } = %s;
  indexedDB.open('holdfast').onsuccess = ({ target }) => {
    const change = target.result.transaction('hosts', 'readwrite');
    change.objectStore('hosts').put({
      ...host, publicKey: bytes(publicKey), staticKey: bytes(staticKey),
    });
    change.oncomplete = () => done(true);
  };
})"""

NO_X25519 = """(() => {
  const make = SubtleCrypto.prototype.generateKey;
  SubtleCrypto.prototype.generateKey = function (how, ...rest) {
    return how === 'X25519'
      ? Promise.reject(new DOMException('Unrecognized name.', 'NotSupportedError'))
      : make.call(this, how, ...rest);
  };
})()"""


@pytest.fixture(scope="module")
def meeting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    with relay(tmp_path_factory.mktemp("relay"), "--web") as made:
        yield made


def knows_a_host(page: Page, meeting: Relay, oddity: str) -> str:
    """Have a page take an odd host for one that it has joined; return its id."""
    page.goto(meeting.url)
    page.see("text=No host yet")
    actor = actor_id(bytes(page.do("evaluate", OWN_KEY)))
    keys = OddHost(meeting.url, actor, oddity).keys
    host = {
        "id": host_id(bytes.fromhex(keys["public"])),
        "name": "odd",
        "operator": "anna",
        "relays": [meeting.url],
        "rights": ["observe"],
        "session": "",
        "expiresMs": None,
        "fingerprint": "",
        "publicKey": keys["public"],
        "staticKey": keys["static"],
    }
    page.do("evaluate", KNOW % json.dumps(host))
    return str(host["id"])


@pytest.mark.parametrize(
    ("oddity", "title"),
    [
        ("another-version", "This page and the host have different versions"),
        ("nonsense", "This page and the host have different versions"),
        ("another-identity", "This is not the host it claims to be"),
        ("revoked", "The host no longer knows this browser"),
    ],
)
def test_a_host_that_is_not_what_it_should_be_is_named_for_it(
    chromium: Browser, meeting: Relay, oddity: str, title: str
) -> None:
    page = chromium.page("anna", PHONE)
    host = knows_a_host(page, meeting, oddity)

    page.goto("about:blank")
    page.goto(f"{meeting.url}/#/{host}/{SOME_SESSION}")
    page.see(f".card-note.bad:has-text('{title}')")
    assert page.trouble() == []


def test_a_page_of_another_version_can_be_loaded_again_from_its_card(
    chromium: Browser, meeting: Relay
) -> None:
    page = chromium.page("anna", DESKTOP)
    host = knows_a_host(page, meeting, "another-version")
    page.goto("about:blank")
    page.goto(f"{meeting.url}/#/{host}/{SOME_SESSION}")
    page.see("text=different versions")
    page.do("evaluate", "window.__before = 1")

    page.press("Reload the page")
    page.wait("window.__before === undefined")
    page.see("text=different versions")


def test_whoever_is_invited_to_one_session_is_refused_at_another(
    chromium: Browser, here: World
) -> None:
    here.shell("open")
    other = here.shell("closed")
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-one", "--session", "open"))
    page.see('.session-name:text-is("open")')
    address = page.do("evaluate", "document.querySelector('a.session').hash")

    page.goto(f"{here.url}/{address.rpartition('/')[0]}/{other}")
    page.see(".card-note.bad:has-text('You have no access')")
    assert not page.do("isVisible", ".xterm-rows")
    assert page.trouble() == []


def test_a_session_that_is_not_there_is_said_to_be_gone(
    chromium: Browser, here: World
) -> None:
    here.shell("present")
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-gone"))
    page.see('.session-name:text-is("present")')
    address = page.do("evaluate", "document.querySelector('a.session').hash")

    page.goto(f"{here.url}/{address.rpartition('/')[0]}/{SOME_SESSION}")
    page.see(".card-note.bad:has-text('This session is gone')")


def test_a_host_that_was_never_joined_is_not_dialled(
    chromium: Browser, here: World
) -> None:
    page = chromium.page("anna", PHONE)

    page.goto(f"{here.url}/#/h_{'a' * 32}/{SOME_SESSION}")
    page.see("text=This browser has not joined that host")


def test_a_browser_that_cannot_seal_is_told_so_before_anything_is_asked_of_it(
    chromium: Browser, here: World
) -> None:
    page = chromium.page("anna", {**PHONE, "before": NO_X25519})
    link = here.invite("--as", "anna-old")

    page.goto(link)
    page.see("[role=alert]:has-text('This page cannot run here')")
    page.see("text=this browser has no X25519 or Ed25519")
    assert page.do("isVisible", "text=Join this host") is False
    chromium.page("bert", DESKTOP).join(link)  # It was not used up.


def test_an_address_that_is_not_safe_is_named_for_it(
    chromium: Browser, tmp_path: Path
) -> None:
    port = free_port()
    name = f"elsewhere.example:{port}"
    listen = ("--listen", f"127.0.0.1:{port}", "--name", name)
    with relay(tmp_path, *listen, "--web"):
        page = chromium.page("anna", DESKTOP)

        page.goto(f"http://{name}/")
        page.see("text=This page cannot run here")
        page.see("text=this page was not opened over https")


def test_a_browser_that_keeps_nothing_is_told_so(
    chromium: Browser, here: World
) -> None:
    refuse = """Object.defineProperty(indexedDB, 'open', { value: () => {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    } })"""
    page = chromium.page("anna", {**DESKTOP, "before": refuse})

    page.goto(here.url)
    page.see("[role=alert]:has-text('This page cannot run here')")


def test_a_host_that_is_away_is_waited_for(chromium: Browser, tmp_path: Path) -> None:
    with relay(tmp_path, "--web") as between:
        place = Place()
        try:
            place.up(between.url)
            page = chromium.page("anna", PHONE)
            page.join(place.invite("--as", "anna-waits"))
            place.do("down")
            page.see(
                ".strip.warn:has-text('Not connected') >> button:text-is('Try now')"
            )
            place.up(between.url)
            page.lose("text=Not connected")
        finally:
            place.close()
