"""Somebody with an invitation is told what it gives, and nothing is used up by that."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.aio.channel_world import HOST, HOST_ID, OPERATOR
from tests.host.test_bridge import asked, enrol, nobody, opened

from holdfast.aio.channel import Sealed, join_channel
from holdfast.host.bridge import Bridge
from holdfast.host.guests import wall
from holdfast.linux.stored import host_book, invites, operators
from holdfast.linux.stored.invites import Invite
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import SessionId
from holdfast.testing.carriers import linked
from holdfast.wire import opening

HERE = SessionId("s_aaaaaaaaaaaaaaaa")
GIVEN = Envelope(frozenset({Right.OBSERVE, Right.INPUT}), HERE, 4e9)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def made(ttl: float = 100.0) -> Invite:
    return invites.make("anna", ActorKind.HUMAN, GIVEN, wall() + ttl)


def comes_with(invite: Invite, talk: Callable[[Sealed], Awaitable[None]]) -> None:
    async def story() -> None:
        ours, theirs = linked()
        serving = Bridge(HOST, nobody)
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            tasks.create_task(serving.run(theirs))
            sealed = await join_channel(
                ours, OPERATOR, HOST.public, HOST_ID, invite.id, invite.secret
            )
            await opened(sealed, opening.HOST)
            await talk(sealed)
            await ours.close()

    asyncio.run(story())


def test_the_terms_are_told_and_nothing_is_changed_by_it() -> None:
    invite = made()
    before = Path(host_book.book_path()).read_bytes()

    async def talk(sealed: Sealed) -> None:
        for _ in range(3):
            told = await asked(sealed, do="terms")
            assert told.pop("host")
            assert told == {
                "ok": True,
                "operator": "anna",
                "known": False,
                "good_until_ms": round(invite.expires_wall * 1000),
                "rights": ["input", "observe"],
                "session": HERE,
                "expires_ms": 4_000_000_000_000,
            }

    comes_with(invite, talk)

    found = invites.find(invite.id)
    assert found is not None
    assert (found.used_by, found.secret) == ("", invite.secret)
    assert operators.enrolled() == []
    assert Path(host_book.book_path()).read_bytes() == before


def test_who_has_read_the_terms_joins_by_them() -> None:
    async def talk(sealed: Sealed) -> None:
        terms = await asked(sealed, do="terms")
        joined = await asked(sealed, do="join")
        common = ("operator", "host", "rights", "session", "expires_ms")
        assert [terms[name] for name in common] == [joined[name] for name in common]
        assert await sealed.receive() == b""

    comes_with(made(), talk)


def test_a_name_that_is_taken_is_told_with_its_number() -> None:
    operators.enrol("Anna", ActorKind.HUMAN, HOST.public, None, b"t" * 32)

    async def talk(sealed: Sealed) -> None:
        assert (await asked(sealed, do="terms"))["operator"] == "anna-2"
        assert (await asked(sealed, do="join"))["operator"] == "anna-2"

    comes_with(made(), talk)


def test_a_key_that_is_known_is_told_what_it_keeps() -> None:
    enrol(Right.OBSERVE)

    async def talk(sealed: Sealed) -> None:
        told = await asked(sealed, do="terms")
        assert (told["known"], told["rights"]) == (True, ["observe"])
        assert (told["session"], told["expires_ms"]) == (None, None)

    comes_with(made(), talk)


def test_terms_are_refused_as_joining_would_be() -> None:
    late, used = made(0.0), made()
    invites.use(used.id, "a_somebody", wall())

    async def refused(sealed: Sealed, code: str) -> None:
        for do in ("terms", "join"):
            told = await asked(sealed, do=do)
            assert (told["ok"], told["code"]) == (False, code)

    comes_with(late, lambda sealed: refused(sealed, "invite-expired"))
    comes_with(used, lambda sealed: refused(sealed, "invite-used"))


def test_an_invitation_is_for_nothing_else() -> None:
    async def talk(sealed: Sealed) -> None:
        for do in ("list", "open", "rotate"):
            told = await asked(sealed, do=do)
            assert (told["ok"], told["code"]) == (False, "malformed-message")

    comes_with(made(), talk)
