import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.scenarios.attached_link import attach, messages
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.scenarios.support import PATIENCE, eventually

from holdfast.client import hosts, keeper, remote, session_location
from holdfast.client.current_operator import ourselves
from holdfast.client.driver import attachment_to
from holdfast.client.host_link import HostLink, join_host, reach_host
from holdfast.crypto.identity import Identity
from holdfast.linux.stored import operators
from holdfast.model import session_requests
from holdfast.model.errors import (
    HoldfastError,
    HostUnreachable,
    NotAllowed,
    NotProven,
    Revoked,
    SessionUnreachable,
)
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, decode, encode, error_from
from holdfast.wire.frames import FrameReader
from holdfast.wire.invites import from_link
from holdfast.wire.versions import SPOKEN


@pytest.fixture(scope="module")
def between() -> Iterator[RelayPlace]:
    with relay() as made:
        yield made


@pytest.fixture(scope="module")
def home(between: RelayPlace) -> Iterator[Place]:
    with places(1) as (made,):
        made.up(between.url)
        made.new("bash", "--norc", name="web")
        made.new("bash", "--norc", name="other")
        yield made


@pytest.fixture
def away(home: Place) -> Iterator[Place]:
    assert home.is_linked()
    with places(1) as (made,), made.inhabited():
        yield made


def joined(home: Place, away: Place, *words: str) -> str:
    told = away.facts("join", "-", "--name", "box", said=home.invite(*words))
    return str(told["operator"])


def refused(place: Place, *words: str, said: str = "") -> tuple[int, str]:
    verb, *rest = words
    done = place.run(verb, "--json", *rest, said=said)
    return done.returncode, json.loads(done.stderr)["error"]["code"]


def test_an_invitation_is_good_for_one_key_and_once(home: Place, away: Place) -> None:
    link = home.invite("--as", "carol")
    away.do("join", "-", "--name", "box", said=link)

    with places(1) as (third,):
        assert refused(third, "join", "-", said=link) == (77, "invite-used")
        assert third.facts("hosts")["hosts"] == []
    again = away.facts("join", "-", said=link)
    assert (again["name"], again["operator"]) == ("box", "carol")


def test_all_that_invite_prints_is_an_invitation(home: Place, away: Place) -> None:
    printed = home.do("invite", "--no-qr", "--as", "dora")

    told = away.facts("join", "-", "--name", "box", said=printed)

    assert told["operator"] == "dora"
    assert refused(away, "join", "-", said=printed + printed)[1] == "malformed-invite"


def test_a_late_one_is_refused(home: Place, away: Place) -> None:
    link = home.invite("--ttl", "1s")
    late = time.monotonic() + 1.1
    eventually("it is too late", lambda: time.monotonic() > late)

    assert refused(away, "join", "-", said=link) == (77, "invite-expired")


def test_one_that_was_withdrawn_leads_nowhere(home: Place, away: Place) -> None:
    made = home.facts("invite")
    home.do("invite", "--withdraw", made["id"])

    status, _ = refused(away, "join", "-", said=made["link"])

    assert status in (75, 77)


@pytest.mark.parametrize("at", [-1, -20, 40])
def test_a_link_with_a_letter_changed_is_no_invitation(
    home: Place, away: Place, at: int
) -> None:
    link = home.invite()
    place = len(link) + at if at < 0 else link.index("#") + at
    other = "A" if link[place] != "A" else "B"

    broken = link[:place] + other + link[place + 1 :]

    assert refused(away, "join", "-", said=broken) == (64, "malformed-invite")


def test_nobody_widens_what_was_promised(home: Place, away: Place) -> None:
    joined(home, away, "--as", "watcher", "--can", "observe")

    assert "$" in away.do("read", "box/web") or "#" in away.do("read", "box/web")
    assert refused(away, "send", "box/web", "x") == (77, "not-allowed")
    assert refused(away, "seize", "box/web") == (77, "not-allowed")
    assert refused(away, "grant", "box/web", "@" + me(), "input")[0] == 77
    for words in (
        ("rename", "box/web", "mine"),
        ("keep", "box/web"),
        ("end", "box/web"),
        ("new", "--on", "box", "--detach"),
    ):
        assert away.run(*words).returncode == 77, words
    assert {one["name"] for one in home.facts("ls")["sessions"]} == {"web", "other"}


def me() -> str:
    return ourselves().actor.name


class Boast(NamedTuple):
    name: str = ""
    kind: str = ""
    rights: tuple[str, ...] = ()


def test_whatever_a_guest_says_of_itself_counts_for_nothing(
    home: Place, away: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(session_requests._WORDS, Boast, "join")  # type: ignore[misc]  # noqa: SLF001  # what no client would say
    invitation = from_link(home.invite("--as", "sly", "--can", "observe"))
    us = Identity.from_seed(ourselves().seed())
    invite = invitation.invite_id, invitation.secret

    async def join() -> dict[str, object]:
        relays, public = invitation.relays, invitation.host_public
        link: HostLink = await join_host(relays, us, public, invite)
        told = await link.ask(Boast("root", "human", ("end", "grant")))  # type: ignore[arg-type]  # that is the point
        await link.close()
        return told

    told = asyncio.run(join())

    assert (told["operator"], told["rights"]) == ("sly", ["observe"])
    assert away.folder


def test_whoever_was_promised_one_session_sees_no_other(
    home: Place, away: Place
) -> None:
    joined(home, away, "--as", "narrow", "--session", "web")
    known = {one["name"]: one["id"] for one in home.facts("ls")["sessions"]}

    assert [one["name"] for one in away.facts("ls", "box/")["sessions"]] == ["web"]
    assert away.facts("who", "box/web")["rights"]
    session_location.settle(known["other"], "box")
    with pytest.raises(HoldfastError) as refusal:
        attach(attachment_to(known["other"]))
    assert refusal.value.code == "not-allowed"
    assert away.run("new", "--on", "box", "--detach").returncode == 77


def test_t17_a_revoked_operator_is_cut_at_once_and_stays_out(
    home: Place, away: Place
) -> None:
    name = joined(home, away)
    session = keeper.find("box/web")
    link, _ = attach(attachment_to(session.id))

    began = time.monotonic()
    home.do("revoke", "--everywhere", f"@{name}")
    with link, pytest.raises((NotAllowed, SessionUnreachable)):
        for _ in messages(link, time.monotonic() + PATIENCE):
            pass

    assert time.monotonic() - began < 5
    with pytest.raises((Revoked, SessionUnreachable)):
        attach(attachment_to(session.id))
    assert away.run("read", "box/web").returncode in (75, 77)


def test_t17_a_session_that_revoked_somebody_is_not_even_listed(
    home: Place, away: Place
) -> None:
    name = joined(home, away)

    home.do("revoke", "other", f"@{name}")

    listed = away.facts("ls", "box/")["sessions"]
    assert [one["name"] for one in listed] == ["web"]
    home.do("grant", "other", f"@{name}", "observe")
    assert len(away.facts("ls", "box/")["sessions"]) == 2


def test_whoever_is_not_known_any_more_is_cut_by_the_host(
    home: Place, away: Place
) -> None:
    name = joined(home, away)
    link, _ = attach(attachment_to(keeper.find("box/web").id))

    home.do("operators", "remove", name)

    with link, pytest.raises(SessionUnreachable):
        for _ in messages(link, time.monotonic() + PATIENCE):
            pass
    assert away.run("ls", "box/").returncode in (75, 77)


def test_rights_that_run_out_are_over_at_once(home: Place, away: Place) -> None:
    joined(home, away, "--for", "3s")
    link, _ = attach(attachment_to(keeper.find("box/web").id))

    with link, pytest.raises(SessionUnreachable):
        for _ in messages(link, time.monotonic() + PATIENCE):
            pass


def test_t06_nobody_is_introduced_to_a_holder_as_somebody_else(
    home: Place, away: Place
) -> None:
    joined(home, away)
    session = SessionId(keeper.find("box/web").id)
    with home.inhabited():
        victim = operators.enrolled()[0].actor.id
    assert away.folder
    link = remote.open_session(hosts.by_name("box"), session, PATIENCE)

    with link:
        link.settimeout(PATIENCE)
        link.sendall(encode(wire.Hello(SPOKEN, "test", "cli")))
        link.sendall(encode(wire.Identify(victim, bytes(32))))
        heard = list(said(link))

    (refuse,) = [one for one in heard if isinstance(one, wire.Refuse)]
    assert isinstance(error_from(refuse), NotProven)


def said(link: socket.socket) -> Iterator[Message]:
    reader = FrameReader()
    while data := link.recv(65536):
        yield from map(decode, reader.feed(data))


def test_t16_whoever_knows_everything_but_a_key_gets_nothing(
    home: Place, away: Place
) -> None:
    joined(home, away)
    box = hosts.by_name("box")

    with places(1) as (thief,), thief.inhabited():
        hosts.save(box)
        assert thief.run("ls", "box/").returncode == 75
        with pytest.raises(HostUnreachable):
            keeper.sessions(host="box")


def test_t68_a_rotated_key_is_the_same_operator_and_the_old_one_nobodys(
    home: Place, away: Place
) -> None:
    name = joined(home, away)
    old = ourselves().seed()
    actor = ourselves().actor.id

    away.do("operators", "rotate")

    assert ourselves().actor.id == actor
    assert away.facts("who", "box/web")["rights"]
    with home.inhabited():
        known = operators.by_name(name)
        assert known is not None
        assert (known.actor.id, known.rotations) == (actor, 1)

    async def come() -> None:
        await reach_host(hosts.by_name("box"), Identity.from_seed(old))

    with pytest.raises(HostUnreachable):
        asyncio.run(come())


def test_t68_whoever_joins_with_a_rotated_key_may_work(
    home: Place, away: Place
) -> None:
    away.do("operators", "rotate")
    joined(home, away)

    assert "you have the turn" in away.do("seize", "box/web")
    away.do("send", "box/web", "by-a-later-key")
    away.do("wait", "box/web", "--for", "by-a-later-key", "--timeout", "20")
    away.do("drop", "box/web")


def test_t36_a_host_with_another_key_is_not_spoken_to(home: Place, away: Place) -> None:
    joined(home, away)
    box = hosts.by_name("box")

    hosts.save(replace(box, static_key=bytes(31) + b"\x09"))

    assert away.run("ls", "box/").returncode in (75, 76)


def test_t12_the_host_listens_nowhere(home: Place) -> None:
    pid = home.status()["pid"]
    sockets = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.add(str(path.readlink()))

    listening = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] in {"0A", "07"}:
                listening.add(f"socket:[{words[9]}]")

    assert not sockets & listening


def test_t47_no_secret_of_a_link_is_in_a_log_or_in_a_list_of_processes(
    home: Place, away: Place, between: RelayPlace
) -> None:
    link = home.invite()
    away.do("join", "-", "--name", "box", said=link)
    invitation = from_link(link)

    secrets = (
        link.partition("#")[2].encode()[-60:],
        invitation.secret,
        invitation.secret.hex().encode(),
    )
    written = between.log.read_bytes() + Path(home.folder, "host.log").read_bytes()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            written += path.read_bytes()
    assert not any(secret in written for secret in secrets)
