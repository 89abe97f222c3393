import base64
import contextlib
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import MalformedInvite
from holdfast.wire.invites import (
    MAX_LINK,
    MAX_URL,
    Invitation,
    check_relay_url,
    from_link,
)

SECRET = bytes(range(100, 116))
INVITE = Invitation(
    bytes(range(32)), bytes(range(50, 66)), SECRET, ("https://relay.example",)
)
LINK = INVITE.to_link()

urls = st.sampled_from(
    [
        "https://relay.example",
        "https://relay.example:8443",
        "https://[2001:db8::1]:443/",
        "http://127.0.0.1:9000",
        "http://localhost:1",
        "http://[::1]:65535",
    ]
)
invitations = st.builds(
    Invitation,
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
    st.binary(min_size=16, max_size=16),
    st.lists(urls, min_size=1, max_size=8).map(tuple),
)


def fragment(raw: bytes, *, total: bool = True) -> str:
    whole = raw + (hashlib.sha256(raw).digest()[:4] if total else b"")
    text = base64.urlsafe_b64encode(whole).rstrip(b"=").decode()
    return f"https://relay.example/j#{text}"


@given(invitations)
def test_i1_a_link_is_read_as_it_was_written(invitation: Invitation) -> None:
    assert from_link(invitation.to_link()) == invitation


@given(st.text(max_size=300))
def test_i2_no_text_raises_anything_but_a_usage_error(text: str) -> None:
    with contextlib.suppress(MalformedInvite):
        from_link(text)
    with contextlib.suppress(MalformedInvite):
        from_link("https://relay.example/j#" + text)


@given(st.binary(max_size=120))
def test_i2_no_bytes_with_a_right_sum_raise_anything_else(raw: bytes) -> None:
    with contextlib.suppress(MalformedInvite):
        from_link(fragment(raw))
    with contextlib.suppress(MalformedInvite):
        from_link(fragment(b"\1" + bytes(64) + raw))


def test_nothing_secret_is_before_the_fragment_or_shown() -> None:
    place, _, rest = LINK.partition("#")

    assert place == "https://relay.example/j"
    assert SECRET in base64.urlsafe_b64decode(rest + "=" * (-len(rest) % 4))
    assert repr(SECRET)[2:-1] not in repr(INVITE)


def test_white_space_from_pasting_does_no_harm() -> None:
    pasted = "  " + LINK[:40] + "\r\n   " + LINK[40:60] + "\t" + LINK[60:] + "\n"

    assert from_link(pasted) == INVITE


def test_every_wrong_letter_and_every_missing_one_is_noticed() -> None:
    start = LINK.index("#") + 1

    for at in range(start, len(LINK)):
        other = "A" if LINK[at] != "A" else "B"
        for changed in (LINK[:at] + other + LINK[at + 1 :], LINK[:at] + LINK[at + 1 :]):
            with pytest.raises(MalformedInvite) as refused:
                from_link(changed)
            assert changed[start:] not in str(refused.value)


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("", "lead to"),
        ("https://relay.example/j", "lead to"),
        (LINK.replace("/j#", "/k#"), "lead to"),
        (LINK.replace("#", "?"), "lead to"),
        ("x" * 5000, "over"),
        ("https://relay.example/j#", "cut off"),
        ("https://relay.example/j#АБВ", "letters"),
        ("https://relay.example/j#a", "letters"),
        ("https://relay.example/j#++++", "cut off"),
        (LINK + "=", "one way"),
        (fragment(b"\2" + bytes(80)), "another version"),
        (fragment(b"\1" + bytes(80), total=False), "letter of it"),
        (fragment(b"\1" + bytes(64) + b"\2\x15https://relay.example"), "not as many"),
        (fragment(b"\1" + bytes(64) + b"\1\x16https://relay.example"), "one way"),
        (fragment(b"\1" + bytes(64) + b"\0\0"), "not as many"),
        (fragment(b"\1" + bytes(64) + b"\1\0"), "URL"),
        (fragment(b"\1" + bytes(64) + b"\1\x14http://relay.example"), "this machine"),
    ],
)
def test_a_text_that_is_no_invitation_is_refused(link: str, why: str) -> None:
    with pytest.raises(MalformedInvite, match=why):
        from_link(link)


def test_an_invitation_with_another_spelling_of_its_last_bits_is_refused() -> None:
    raw = INVITE.to_link().partition("#")[2]
    spare = -len(raw) % 4
    assert spare, "choose a relay whose link has spare bits"
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    other = letters[letters.index(raw[-1]) + 1]

    with pytest.raises(MalformedInvite):
        from_link("https://relay.example/j#" + raw[:-1] + other)


@pytest.mark.parametrize("relays", [(), ("https://relay.example",) * 9])
def test_an_invitation_names_one_to_eight_relays(relays: tuple[str, ...]) -> None:
    invitation = Invitation(bytes(32), bytes(16), bytes(16), relays)

    with pytest.raises(MalformedInvite, match="relays"):
        invitation.to_link()


@pytest.mark.parametrize("sizes", [(31, 16, 16), (32, 15, 16), (32, 16, 17)])
def test_a_part_of_another_length_is_refused(sizes: tuple[int, int, int]) -> None:
    key, ident, secret = (bytes(size) for size in sizes)

    with pytest.raises(MalformedInvite, match="length"):
        Invitation(key, ident, secret, ("https://relay.example",)).to_link()


@pytest.mark.parametrize(
    "url",
    [
        "http://relay.example",
        "http://10.0.0.1",
        "http://127.0.0.1.example",
        "ws://relay.example",
        "https://user:word@relay.example",
        "https://relay.example/path",
        "https://relay.example?x=1",
        "https://relay.example#x",
        "https://relay.example:0",
        "https://relay.example:65536",
        "https://[:::]",
        "https://RELAY.example",
        "https://r\u0435lay.example",
        "https://" + "x" * 250,
        "https://",
        "",
    ],
)
def test_t40_a_relay_is_dialled_by_name_with_tls_or_on_this_machine(url: str) -> None:
    with pytest.raises(MalformedInvite):
        check_relay_url(url)


def test_a_link_and_a_url_may_be_as_long_as_that_and_no_longer() -> None:
    padded = LINK + " " * (MAX_LINK - len(LINK))
    url = "https://" + "a" * (MAX_URL - len("https://"))

    assert from_link(padded) == INVITE
    check_relay_url(url)
    with pytest.raises(MalformedInvite, match="characters"):
        from_link(padded + " ")
    with pytest.raises(MalformedInvite):
        check_relay_url(url + "a")
