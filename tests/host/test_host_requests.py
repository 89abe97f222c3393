import asyncio
from pathlib import Path

import pytest

from holdfast.host import host_requests
from holdfast.host.guest_creation import folder_for, vouched_for
from holdfast.host.guests import Guest, admitted, guest_of, trace
from holdfast.host.host_requests import RIGHTS, answer, request_in
from holdfast.linux.stored import invites, operators
from holdfast.linux.stored.operators import Terms
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import (
    HoldfastError,
    MalformedId,
    MalformedMessage,
    NotAllowed,
    SessionNotFound,
    UnexpectedMessage,
)
from holdfast.model.ids import SessionId
from holdfast.model.session_record import ParentRecord, SessionRecord
from holdfast.model.session_requests import KINDS, Creation
from holdfast.wire.host_requests import MAX_PACKET, Packet, packet_bytes

HERE, THERE = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)
KEY = b"k" * 32
FAR_AWAY = 4e9


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def guest(envelope: Envelope | None = None, kind: ActorKind = ActorKind.HUMAN) -> Guest:
    terms = None if envelope is None else Terms("ab", envelope)
    operators.enrol("anna", kind, KEY, None, b"t" * 32, terms)
    found = guest_of(KEY)
    assert found is not None
    return found


def asked(who: Guest, **packet: object) -> list[Packet]:
    return asyncio.run(answer(who, request_in(dict(packet))))


ABOUT_ONE = {do: RIGHTS[kind] for do, kind in KINDS.items() if RIGHTS.get(kind)}


@pytest.mark.parametrize("do", [do for do, kind in KINDS.items() if kind in RIGHTS])
def test_t70_everything_in_the_table_has_an_answer(do: str) -> None:
    found: HoldfastError | None = None
    try:
        asked(guest(), do=do, id=HERE)
    except HoldfastError as error:
        found = error

    assert not isinstance(found, UnexpectedMessage)


@pytest.mark.parametrize("do", ["upgrade", "down", "deposit", "", None, 7, ["list"]])
def test_what_is_not_in_the_table_is_refused(do: object) -> None:
    with pytest.raises(UnexpectedMessage):
        asked(guest(), do=do, id=HERE)


@pytest.mark.parametrize("do", ABOUT_ONE)
def test_t15_without_the_right_nobody_is_even_asked(do: str) -> None:
    others = frozenset(Right) - {ABOUT_ONE[do]}

    with pytest.raises(NotAllowed):
        asked(guest(Envelope(others)), do=do, id=HERE)


@pytest.mark.parametrize("do", ABOUT_ONE)
def test_a_promise_for_one_session_is_for_no_other(do: str) -> None:
    narrow = guest(Envelope(frozenset(Right), HERE))

    with pytest.raises(NotAllowed):
        asked(narrow, do=do, id=THERE)
    with pytest.raises(NotAllowed):
        asked(narrow, do="create", command=["true"])


@pytest.mark.parametrize("wanted", ["web", "../x", "", None, "s_AAAA", HERE + "\n"])
def test_what_is_no_id_reaches_no_file(wanted: object) -> None:
    with pytest.raises(MalformedId):
        asked(guest(), do="log", id=wanted)


def test_an_envelope_that_has_run_out_is_nobodys() -> None:
    operators.enrol(
        "late",
        ActorKind.HUMAN,
        KEY,
        None,
        b"t" * 32,
        Terms("ab", Envelope(frozenset(Right), None, 1.0)),
    )

    assert guest_of(KEY) is None
    assert not admitted().actors


def test_without_a_promise_a_guest_has_what_its_kind_has() -> None:
    device = guest(kind=ActorKind.DEVICE)

    assert device.may(Right.INPUT, HERE)
    assert not device.may(Right.END, HERE)
    assert device.may_anything(HERE)


def test_a_key_that_nobody_has_is_no_guest() -> None:
    guest()

    assert guest_of(b"x" * 32) is None


def test_relays_are_told_of_operators_and_invitations() -> None:
    who = guest()
    made = invites.make("bob", ActorKind.HUMAN, Envelope(frozenset()), FAR_AWAY)

    assert admitted().actors == {who.id}
    assert admitted().invites == {made.id}


def test_every_change_of_who_is_known_leaves_a_trace() -> None:
    before = trace()
    guest()
    enrolled = trace()
    invites.make("bob", ActorKind.HUMAN, Envelope(frozenset()), FAR_AWAY)

    assert len({before, enrolled, trace()}) == 3


def test_a_long_list_comes_in_pages_that_fit() -> None:
    shown: list[Packet] = [{"id": HERE, "command": ["x" * 900]} for _ in range(300)]

    pages = host_requests._pages(shown)  # noqa: SLF001  # what a long list is cut by

    assert [page["more"] for page in pages] == [True] * (len(pages) - 1) + [False]
    assert [one for page in pages for one in page["sessions"]] == shown
    assert all(len(packet_bytes(page)) <= MAX_PACKET for page in pages)
    assert host_requests._pages([]) == [{"ok": True, "sessions": [], "more": False}]  # noqa: SLF001  # ditto


def test_a_logbook_that_is_not_there_is_said() -> None:
    with pytest.raises(SessionNotFound):
        asked(guest(), do="log", id=HERE)
    with pytest.raises(MalformedMessage):
        asked(guest_of(KEY) or guest(), do="log", id=HERE, **{"from": -1})


def test_an_environment_that_is_none_is_refused() -> None:
    with pytest.raises(MalformedMessage):
        asked(guest(), do="create", env=["A=b"])


def named(who: Guest, **packet: object) -> dict[str, object]:
    (said,) = asked(who, do="names", **packet)
    return dict(said["names"])


@pytest.mark.parametrize(
    ("asked_for", "folder"),
    [
        ("", "/home/anna"),
        ("~", "/home/anna"),
        ("~/shop", "/home/anna/shop"),
        ("~bert", "~bert"),
        ("/srv", "/srv"),
    ],
)
def test_a_tilde_is_the_home_of_whose_host_it_is(asked_for: str, folder: str) -> None:
    assert folder_for(asked_for, "/home/anna") == folder


def test_names_are_told_of_whoever_was_met() -> None:
    anna = guest()
    bot = operators.enrol("bot", ActorKind.AGENT, b"bot", None, b"t" * 32).actor

    told = {bot.id: {"name": "bot", "kind": "agent"}}
    assert named(anna, actors=[bot.id, "a_nobody"]) == told
    assert named(anna, called=["BOT", "somebody"]) == told
    assert named(anna) == {}


def test_t70_a_guest_of_one_session_cannot_try_names() -> None:
    anna = guest(Envelope(frozenset(Right), session=HERE))
    bot = operators.enrol("bot", ActorKind.AGENT, b"bot", None, b"t" * 32).actor

    assert named(anna, called=["bot"]) == {}
    assert list(named(anna, actors=[bot.id])) == [bot.id]


@pytest.mark.parametrize("actors", ["bot", [7], ["a"] * 65, {}])
def test_names_are_asked_for_a_few_at_a_time(actors: object) -> None:
    with pytest.raises(MalformedMessage):
        named(guest(), actors=actors)


def test_a_capsule_that_is_asked_for_elsewhere_is_asked_for_here() -> None:
    passed = vouched_for(guest(), Creation(runtime="capsule", net="own"))

    assert (passed.runtime, passed.net) == ("capsule", "own")


def test_an_exec_gate_that_is_asked_for_elsewhere_is_asked_for_here() -> None:
    anna = guest()

    assert vouched_for(anna, Creation(exec_gate=True)).exec_gate
    assert not vouched_for(anna, Creation()).exec_gate


def test_a_branch_takes_the_right_to_fork_its_parent() -> None:
    asks = Creation(name="web-2", branches=f"{HERE}.1")
    anna = guest(Envelope(frozenset(Right) - {Right.FORK}))
    with pytest.raises(NotAllowed):
        vouched_for(anna, asks)
    operators.forget("anna")
    other = guest(Envelope(frozenset(Right), THERE))
    with pytest.raises(NotAllowed):
        vouched_for(other, asks)
    operators.forget("anna")

    assert vouched_for(guest(Envelope(frozenset(Right))), asks).branches == f"{HERE}.1"


def test_a_guest_learns_of_no_parent_that_it_may_not_observe() -> None:
    branch = SessionRecord(HERE, "web-2", parent=ParentRecord(THERE, 1))
    told: list[object] = [branch.facts()]
    narrow = guest(Envelope(frozenset(Right), HERE))

    (seen,) = host_requests.those_seen(narrow, told)
    assert seen.parent is None
    operators.forget("anna")
    (seen,) = host_requests.those_seen(guest(), told)
    assert seen.parent == ParentRecord(THERE, 1)
