"""A session reached early: what is found, who we are, and what is handed on."""

import os
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import US, FakeKeeper, FakeSession

from holdfast.client import early_session
from holdfast.client.early_session import EarlyOperator, EarlySession
from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId
from holdfast.wire import first_messages
from holdfast.wire.codec import decode
from holdfast.wire.first_messages import NotOneOfThese
from holdfast.wire.frames import FrameReader
from holdfast.wire.messages import Attach, Cells, Mode

NOBODY = SessionId("s_" + "z" * 16)


@pytest.fixture(autouse=True)
def nothing_begun() -> Iterator[None]:
    early_session.forget()
    yield
    early_session.forget()


@pytest.fixture
def early(web: FakeSession) -> Iterator[EarlySession]:  # noqa: F811
    made = EarlySession("it", web.id, "web")
    assert made.reach(made.attach("observe"))
    yield made
    made.hang_up()


# ── which session ─────────────────────────────────────────────────────────────


def test_a_session_is_found_by_its_whole_name_or_id(web: FakeSession) -> None:  # noqa: F811
    for text in ("web", "WEB", web.id):
        found = early_session.find(text)
        assert found is not None
        assert (found.asked, found.id, found.name) == (text, web.id, "web")


def test_what_is_not_a_whole_name_here_is_left_to_the_keeper(
    web: FakeSession,  # noqa: F811
    keeper: FakeKeeper,  # noqa: F811
) -> None:
    for text in ("", "/", "box/web", "we", web.id[:8], NOBODY):
        assert early_session.find(text) is None

    (other,) = keeper.has("WEB")

    assert early_session.find("web") is None
    assert early_session.find(other.id) is not None


def test_a_session_that_nobody_holds_is_not_reached(web: FakeSession) -> None:  # noqa: F811
    gone = EarlySession("it", NOBODY, "it")

    assert not gone.reach(gone.attach("observe"))
    assert not gone.is_linked
    assert not web.attaches


# ── what was begun ────────────────────────────────────────────────────────────


def test_what_was_begun_is_known_by_its_id_and_as_long_as_it_is_linked_by_its_name(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    early_session.keep(early)

    assert early_session.begun(web.id) is early
    assert early_session.begun(NOBODY) is None
    assert early_session.begun_as("it") is early
    assert early_session.begun_as("web") is None
    assert early.actor == US

    early.hang_up()

    assert early_session.begun_as("it") is None
    assert early_session.begun(web.id) is early
    assert early.talk is None


def test_what_is_forgotten_is_hung_up(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    early_session.keep(early)

    early_session.forget()

    assert not early.is_linked
    assert early_session.begun(web.id) is None


def test_the_last_that_was_begun_is_the_one_that_is_kept() -> None:
    first, last = (EarlySession(name, NOBODY, "it") for name in ("a", "b"))
    early_session.keep(first)
    early_session.keep(last)

    assert early_session.begun(NOBODY) is last


def test_a_client_and_its_secret_are_handed_on_once() -> None:
    early, other = (EarlySession("it", NOBODY, "it") for _ in range(2))

    assert early.take_ids() == (early.client, early.secret)
    assert early.take_ids() is None
    assert len(early.secret) == early_session.SECRET
    assert (early.client, early.secret) != (other.client, other.secret)


def test_the_link_is_handed_on_and_not_closed(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:

    with socket.socket(fileno=early.release()) as link:
        assert not early.is_linked
        early.hang_up()
        assert link.getpeername() == str(web.path)


# ── what is said and heard ────────────────────────────────────────────────────


@pytest.mark.parametrize("size", [None, (100, 30)])
def test_we_ask_to_be_painted_if_we_say_how_large_we_are(
    size: tuple[int, int] | None,
) -> None:
    early = EarlySession("it", NOBODY, "it")

    (frame,) = FrameReader().feed(early.attach("operate", size))

    assert decode(frame) == Attach(
        session=NOBODY,
        client=early.client,
        mode=Mode.OPERATE,
        size=size and Cells(*size),
        incarnation=None,
        after=None,
        keyframe=size is not None,
    )


def test_frames_that_are_put_back_come_first_and_once(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    web.wait_until(lambda: bool(web.attaches))
    early.put_back([(7, b"x")])

    assert early.receive() == [(7, b"x")]
    assert (7, b"x") not in early.receive()


def repeated(what: Callable[[], object]) -> None:
    """Do it more often than what is under way can last."""
    for _ in range(1000):
        what()


def test_a_holder_that_dies_ends_the_link(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    web.die()

    with pytest.raises(NotOneOfThese):
        repeated(early.receive)
    assert not early.is_linked


def test_what_a_holder_said_before_it_hung_up_is_heard(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    web.wait_until(lambda: bool(web.attaches))
    web.die()

    assert first_messages.ATTACHED in {kind for kind, _ in early.receive()}


def test_a_link_that_is_broken_is_left(
    web: FakeSession,  # noqa: F811
    early: EarlySession,
) -> None:
    web.die()

    with pytest.raises(NotOneOfThese):
        repeated(partial(early.send, b"x" * 65536))
    assert not early.is_linked


# ── who we are ────────────────────────────────────────────────────────────────


def own_file(name: str) -> Path:
    (folder,) = Path(folders.operators_folder()).iterdir()
    return folder / name


@pytest.mark.usefixtures("keeper")
def test_we_are_who_is_written_down_with_a_token_and_a_first_key() -> None:
    own_file("token").write_bytes(b"t" * 32)
    own_file("key").write_bytes(b"k" * 32)
    us = EarlyOperator()

    assert (us.actor, us.token(), us.seed()) == (US, b"t" * 32, b"k" * 32)


@pytest.mark.usefixtures("keeper")
def test_a_key_that_is_not_the_first_or_not_here_is_left_to_the_rest() -> None:
    with pytest.raises(NotOneOfThese):
        EarlyOperator().seed()
    own_file("key").write_bytes(b"k" * 32)
    facts = own_file("operator.json")
    facts.write_bytes(facts.read_bytes().replace(b"{", b'{"rotations": "00", ', 1))

    with pytest.raises(NotOneOfThese):
        EarlyOperator().seed()
    assert EarlyOperator().actor == US


@pytest.mark.usefixtures("keeper")
@pytest.mark.parametrize(
    "facts",
    [
        "{}",
        '{"actor": "',
        f'{{"name": "\\"", "actor": "{US}"}}',
        f'{{"actor": "{US}", "by": {{"actor": "{US}"}}}}',
    ],
)
def test_what_says_not_plainly_who_we_are_is_left_to_the_rest(facts: str) -> None:
    own_file("operator.json").write_text(facts)

    with pytest.raises(NotOneOfThese):
        EarlyOperator()


@pytest.mark.usefixtures("keeper")
def test_an_operator_who_is_not_known_is_left_to_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOLDFAST_AS", f"nobody-{os.getpid()}")

    with pytest.raises(NotOneOfThese):
        EarlyOperator()
