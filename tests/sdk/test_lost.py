"""Lost sessions and images, here and at a host that says what a test has it say."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.support.fakes import FakeKeeper
from tests.cli.support.operating import be_known
from tests.core.capsule.image_samples import CONTENT, SESSION, WHOLE
from tests.linux.stored.test_recovery_files import FACTS

from holdfast.client import current_operator
from holdfast.core.book.entries import granted_fields
from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.core.capsule.manifest import MANIFEST
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store, places, recovery_files, session_names
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import ImageNotFound, NotAllowed, NotRecoverable, OnlyHere
from holdfast.model.ids import ActorId, Epoch, Incarnation, SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import (
    ListImages,
    ListSessions,
    RemoveImage,
    Request,
)
from holdfast.sdk import lost
from holdfast.sdk.near_route import Near
from holdfast.sdk.values import ImageInfo, LostSession

OTHER = SessionId("s_" + "b" * 16)


class Elsewhere(Near):
    """A host of another name, which answers what a test has it answer."""

    def __init__(self, answer: Facts) -> None:
        super().__init__(current_operator.ourselves())
        self.name = "box"
        self.answer = answer
        self.asked: list[Request] = []

    async def ask(self, asked: Request) -> Facts:
        """Return the answer."""
        self.asked.append(asked)
        return self.answer


@pytest.fixture(autouse=True)
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeKeeper]:
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        be_known(Path(folder), monkeypatch)
        monkeypatch.setenv("HOLDFAST_STATE_DIR", f"{folder}/state")
        made = FakeKeeper(Path(folder))
        yield made
        made.close()


def us() -> Near:
    return Near(current_operator.ourselves())


def bot() -> Near:
    return Near(current_operator.enrol("bot", ActorKind.AGENT))


def image(session: SessionId, made_ms: int) -> str:
    """Make an image; return its name."""
    manifest = msgspec.structs.replace(WHOLE, session=session, made_ms=made_ms)
    with image_store.begin(session, is_durable=False) as draft:
        for name, content in CONTENT.items():
            draft.add(name, content)
        draft.finish(manifest, SigningKey.from_seed(host_seed()))
        return str(draft.name)


def images(way: Near, text: str = "") -> list[str]:
    return [one.image for one in asyncio.run(lost.images_at(way, text))]


def lose() -> None:
    recovery_files.write_facts(FACTS)
    places.session_log(SESSION).write_text('{"kind":"opened","incarnation":1}\n')


def test_a_session_that_no_process_has_is_lost_here() -> None:
    lose()

    (found,) = asyncio.run(lost.lost_at(us()))

    assert isinstance(found, LostSession)
    assert (found.id, found.name, found.command) == (SESSION, "web", ("sh",))
    assert found.is_recoverable


def test_what_a_host_has_lost_is_what_it_says() -> None:
    way = Elsewhere({"lost": [{"id": OTHER, "name": "far", "seen_ms": 2000}]})

    (found,) = asyncio.run(lost.lost_at(way))

    assert (found.label, found.seen_wall) == ("box/far", 2.0)
    assert way.asked == [ListSessions()]


def test_images_are_listed_the_newest_first_of_all_or_one_session() -> None:
    session_names.keep(OTHER, "web")
    first, second = image(SESSION, 1000), image(OTHER, 2000)

    assert images(us()) == [second, first]
    assert images(us(), SESSION) == [first]
    assert images(us(), "web") == [second]
    assert images(us(), "api") == []
    (found,) = asyncio.run(lost.images_at(us(), OTHER))
    assert (found.made_wall, found.is_restorable) == (2.0, True)


def test_an_agent_sees_no_image_unless_a_logbook_leaves_it_that() -> None:
    image(SESSION, 1000)

    assert images(bot()) == []


def test_images_at_a_host_are_those_it_says() -> None:
    way = Elsewhere({"images": [{"id": OTHER, "number": 3, "name": "far"}]})

    assert images(way, "far") == [f"{OTHER}.3"]
    assert way.asked == [ListImages()]


def called(text: str) -> ImageInfo:
    return asyncio.run(lost.image_called(us(), text))


def damage(name: str) -> None:
    session, number = name.split(".")
    Path(image_store.images_folder(), session, number, MANIFEST).write_bytes(b"?")


def test_an_image_is_meant_by_its_number_or_is_the_newest_that_is_whole() -> None:
    first, second = image(SESSION, 1000), image(SESSION, 2000)

    assert called(first).image == first
    assert called(second).image == second
    assert called(SESSION).image == second
    damage(second)
    assert called(SESSION).image == first
    assert not called(second).is_restorable
    for nothing in ("api", f"{SESSION}.7", "\x1b"):
        with pytest.raises(ImageNotFound):
            called(nothing)


def test_a_next_life_from_an_image_has_its_name_unless_another_is_wanted() -> None:
    session_names.keep(SESSION, "web")
    image(SESSION, 1000)

    plain = asyncio.run(lost.wish_for_image("web", "", us()))
    named = asyncio.run(lost.wish_for_image("web", "api", us(), "as-is"))

    assert (plain.recovers, plain.image, plain.name) == (SESSION, 1, "web")
    assert (named.image, named.name, named.open_files) == (1, "api", "as-is")


def test_a_person_removes_an_image() -> None:
    first, second = image(SESSION, 1000), image(SESSION, 2000)

    asyncio.run(lost.remove_image(second, us()))

    assert images(us()) == [first]


def test_an_agent_removes_none_even_if_it_may_make_them() -> None:
    first = image(SESSION, 1000)
    image(OTHER, 2000)
    way = bot()
    grant(way, Right.CHECKPOINT)
    assert images(way) == [first]

    with pytest.raises(NotAllowed):
        asyncio.run(lost.remove_image(first, way))

    assert images(us(), SESSION) == [first]


def test_an_agent_that_has_other_rights_alone_sees_no_image() -> None:
    image(SESSION, 1000)
    way = bot()
    grant(way, Right.OBSERVE)

    assert images(way) == []


def grant(way: Near, right: Right) -> None:
    """Have the logbook of SESSION say that somebody has a right in it."""
    envelope = Envelope(frozenset({right}), SESSION)
    fields = dict(granted_fields(way.us, envelope, ActorId("")))
    book = Logbook(genesis(SESSION))
    entry = book.draft(EntryKind.GRANTED, fields, Incarnation(1), Epoch(1), 1)
    places.session_log(SESSION).write_bytes(entry.line + b"\n")


def test_an_image_at_a_host_is_removed_there() -> None:
    way = Elsewhere({"images": [{"id": OTHER, "number": 3, "name": "far"}]})

    asyncio.run(lost.remove_image("far", way))

    assert way.asked == [ListImages(), RemoveImage(OTHER, 3)]


def test_a_branch_of_an_image_is_called_after_its_session(keeper: FakeKeeper) -> None:
    keeper.has("web", "web-2")
    session_names.keep(SESSION, "web")
    found = image(SESSION, 1000)

    plain = asyncio.run(lost.wish_for_branch(found, "", us()))
    named = asyncio.run(lost.wish_for_branch(SESSION, "twig", us()))

    assert (plain.name, plain.branches) == ("web-3", found)
    assert (named.name, named.branches) == ("twig", found)


def test_branches_are_made_here_alone() -> None:
    with pytest.raises(OnlyHere):
        asyncio.run(lost.wish_for_branch("far", "", Elsewhere({})))


def test_a_next_life_has_our_variables_only_if_none_were_kept_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLOUR", "blue")
    one = LostSession(SESSION, "web")
    bare: dict[str, Any] = {"needs_environment": True}

    assert lost.wish_for(one, "", us()).env is None
    assert lost.wish_for(one._replace(**bare), "", Elsewhere({})).env is None
    env = lost.wish_for(one._replace(**bare), "api", us()).env
    assert env is not None
    assert env["COLOUR"] == "blue"
    with pytest.raises(NotRecoverable):
        lost.wish_for(one._replace(why="it runs"), "", us())
