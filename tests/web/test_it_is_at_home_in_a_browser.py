"""The clipboard, the keyboards of phones, the home screen, and where the key is."""

from tests.web.browsing import DESKTOP, PHONE, Browser, Page, Wishes
from tests.web.figures import first_load
from tests.web.world import World

FIRST_LOAD = 300 * 1024
"""Bytes, packed, that a first visit may take."""

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}

KEYS = """new Promise((done) => {
  indexedDB.open('holdfast').onsuccess = ({ target }) => {
    const found = target.result.transaction('keys').objectStore('keys').get('own');
    found.onsuccess = async () => {
      const keys = [found.result.signing, found.result.agreeing];
      const taken = await Promise.allSettled(keys.map((one) =>
        crypto.subtle.exportKey('pkcs8', one)));
      done([keys.map((one) => one.extractable), taken.map((one) => one.status)]);
    };
  };
})"""


def opened(chromium: Browser, here: World, name: str, size: Wishes) -> Page:
    here.shell(name)
    page = chromium.page("anna", size)
    page.join(here.invite("--as", f"anna-{name}"))
    page.open(name)
    return page


def test_what_is_selected_is_copied(chromium: Browser, here: World) -> None:
    page = opened(chromium, here, "copied", {**DESKTOP, **CLIPBOARD})
    page.enter("clear; echo co''pied-text")
    page.see_printed("copied-text")

    where = ".xterm-rows >> text=copied-text >> nth=-1"
    page.do("dblclick", where, {"force": True})
    page.do("keyboard.press", "Control+Shift+C")
    page.wait("navigator.clipboard.readText().then((text) => text.includes('copied'))")


def test_a_phone_pastes_from_its_clipboard(chromium: Browser, here: World) -> None:
    page = opened(chromium, here, "pasted", {**PHONE, **CLIPBOARD})
    page.do("evaluate", "navigator.clipboard.writeText('echo pasted-$((1+1))')")

    page.press("Paste")
    page.see_printed("$ echo pasted-$((1+1))")
    page.do("focus", ".xterm-helper-textarea")
    page.do("keyboard.press", "Enter")
    page.see_printed("pasted-2")


def test_what_is_composed_comes_once_and_whole(chromium: Browser, here: World) -> None:
    page = opened(chromium, here, "composed", PHONE)
    page.do("focus", ".xterm-helper-textarea")
    page.type("printf '<%s>' ")

    for text in ("に", "にほ", "にほん"):
        said = {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        page.do("devtools", "Input.imeSetComposition", said)
    page.do("devtools", "Input.insertText", {"text": "日本"})
    page.do("keyboard.press", "Enter")
    page.see_printed("<日本>")


def test_a_keyboard_that_corrects_is_asked_not_to(
    chromium: Browser, here: World
) -> None:
    page = opened(chromium, here, "corrects", PHONE)

    found = page.do(
        "evaluate",
        "['autocomplete', 'autocorrect', 'autocapitalize', 'spellcheck'].map((name) =>"
        " document.querySelector('.xterm-helper-textarea').getAttribute(name))",
    )
    assert found == ["off", "off", "none", "false"]


def test_it_can_be_put_on_the_home_screen(chromium: Browser, here: World) -> None:
    page = chromium.page("anna", PHONE)
    page.goto(here.url)
    page.wait("navigator.serviceWorker.ready.then(() => true)")

    answer = page.do("devtools", "Page.getInstallabilityErrors")
    why = {one["errorId"] for one in answer["installabilityErrors"]}
    assert why <= {"in-incognito"}  # Each page of ours is a stranger to the others.
    manifest = page.do("devtools", "Page.getAppManifest")
    assert manifest["errors"] == []


def test_no_script_can_take_the_key_away(chromium: Browser, here: World) -> None:
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-key"))

    assert page.do("evaluate", KEYS) == [[False, False], ["rejected", "rejected"]]


def test_a_first_visit_takes_no_more_than_it_may() -> None:
    assert first_load() <= FIRST_LOAD


def test_the_turn_is_given_to_somebody_who_is_there(
    chromium: Browser, here: World
) -> None:
    anna = opened(chromium, here, "given", DESKTOP)
    bert = chromium.page("bert", PHONE)
    bert.join(here.invite("--as", "bert-given"))
    bert.open("given")
    anna.press("Take")
    anna.see("text=You have the turn")

    anna.panel("People")
    anna.press("Give the turn")
    bert.see("text=You have the turn")
    bert.press("Drop")
    anna.see("text=The turn is free")
