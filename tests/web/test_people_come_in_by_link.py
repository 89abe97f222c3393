"""An invitation is used up by one press, and what it opens is there again later."""

import pytest
from tests.web.browsing import DESKTOP, PHONE, Browser, Wishes
from tests.web.world import World

SIZES = pytest.mark.parametrize(
    "size", [DESKTOP, PHONE], ids=["on a desk", "on a phone"]
)


@SIZES
def test_a_link_leads_to_the_sessions(
    chromium: Browser, here: World, size: Wishes
) -> None:
    name = f"work-{size['viewport']['width']}"
    here.shell(name)
    page = chromium.page("anna", size)

    page.join(here.invite("--as", f"anna-{name}"))
    page.see(f'.session-name:text-is("{name}")')
    assert page.trouble() == []


def test_an_invitation_shows_the_hosts_key_in_the_words_that_were_printed(
    chromium: Browser, here: World
) -> None:
    printed = here.do("invite", "--no-qr", "--as", "anna-words")
    (link,) = [one for one in printed.split() if "/j#" in one]
    words = printed.rstrip().splitlines()[-1].strip()
    page = chromium.page("anna", PHONE)

    page.goto(link)
    page.see("text=You are invited")
    assert page.do("textContent", ".spoken") == words
    assert len(words.split()) == 8


@SIZES
def test_a_person_reads_what_an_invitation_gives_before_it_is_used(
    chromium: Browser, here: World, size: Wishes
) -> None:
    name = f"anna-asks-{size['viewport']['width']}"
    made = here.facts("invite", "--as", name, "--can", "observe,input")
    page = chromium.page("anna", size)

    page.goto(made["link"])
    page.see(f".facts >> text={name}")
    page.see(".facts >> text=watch, type, in every session")
    page.see(".facts >> text=it is revoked")
    page.see(".spoken")
    assert name not in [one["name"] for one in here.facts("operators")["operators"]]

    other = chromium.page("bert", size)
    other.goto(made["link"])
    other.see(f".facts >> text={name}")
    page.press("Join this host")
    page.see(f".joined >> text={name}")
    other.press("Join this host")
    other.see("text=If that was not you, tell the person who invited you")


def test_somebody_who_has_joined_is_told_their_name_and_rights(
    chromium: Browser, here: World
) -> None:
    page = chromium.page("anna", PHONE)
    page.join(here.invite("--as", "anna-told", "--can", "observe,input"))

    page.see(".joined >> text=anna-told")
    page.see(".joined >> text=watch, type, in every session")
    page.press("I have seen it")
    page.lose(".joined")


def test_the_secret_of_a_link_leaves_the_address_at_once(
    chromium: Browser, here: World
) -> None:
    page = chromium.page("anna", DESKTOP)
    page.goto(here.invite("--as", "anna-secret"))

    page.see("text=You are invited")
    assert page.do("evaluate", "location.href + history.length") == f"{here.url}/2"


def test_a_host_is_known_after_a_reload(chromium: Browser, here: World) -> None:
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-reload"))

    page.do("reload")
    page.see(".host")
    assert page.trouble() == []


def test_a_link_that_was_used_lets_nobody_else_in(
    chromium: Browser, here: World
) -> None:
    link = here.invite("--as", "first")
    chromium.page("anna", DESKTOP).join(link)
    second = chromium.page("bert", DESKTOP)

    second.goto(link)
    second.see("text=This invitation does not work")
    second.see("text=If that was not you, tell the person who invited you")
    second.press("Back to the sessions")
    second.see("text=No host yet")


def test_a_link_that_was_stolen_out_of_a_history_is_of_no_use(
    chromium: Browser, here: World
) -> None:
    link = here.invite("--as", "robbed")
    owner = chromium.page("anna", DESKTOP)
    owner.join(link)
    thief = chromium.page("bert", PHONE)
    thief.goto(link)
    thief.see("text=This invitation does not work")

    here.shell("safe")
    owner.see('.session-name:text-is("safe")')
    thief.do("reload")
    thief.see("text=No host yet")
    known = [one["name"] for one in here.facts("operators")["operators"]]
    assert known.count("robbed") == 1


def test_a_link_that_was_withdrawn_lets_nobody_in(
    chromium: Browser, here: World
) -> None:
    made = here.facts("invite", "--as", "unwelcome")
    here.do("invite", "--withdraw", made["id"])
    page = chromium.page("anna", PHONE)

    page.goto(made["link"])
    page.see("text=It was used, withdrawn, or has expired")
    page.see("text=Try again")


def test_a_link_with_a_letter_missing_is_refused_before_anything_is_sent(
    chromium: Browser, here: World
) -> None:
    page = chromium.page("anna", PHONE)
    page.goto(here.invite("--as", "anna-cut")[:-3])

    page.see("text=The link is incomplete")


def test_a_link_can_be_pasted_into_the_page(chromium: Browser, here: World) -> None:
    page = chromium.page("anna", DESKTOP)
    page.goto(here.url)
    page.see("text=No host yet")

    page.do("fill", "[aria-label='Invitation link']", here.invite("--as", "p"))
    page.press("Join")
    page.press("Join this host")
    page.see(".host")


def test_what_was_taken_back_shows_as_such(chromium: Browser, here: World) -> None:
    page = chromium.page("anna", DESKTOP)
    page.join(here.invite("--as", "anna-revoked"))

    here.do("operators", "remove", "anna-revoked")
    page.do("reload")
    # The host says so itself, unless the relay has heard of it first, and says less.
    page.see("text=/no longer (knows this browser|lets you in)/")
