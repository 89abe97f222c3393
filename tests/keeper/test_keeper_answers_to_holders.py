"""What holders ask of a keeper, and what a keeper asks of them, packet by packet."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.keeper.keeper_world import ONE, TWO, House, Peer, house

from holdfast.keeper.checks import LIMIT
from holdfast.keeper.consents import PATIENCE as CONSENT
from holdfast.keeper.keeper_answers import KNOCK_PATIENCE
from holdfast.linux import packets
from holdfast.linux.stored import places


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    with house(tmp_path) as made:
        yield made


def answer(peer: Peer) -> packets.Packet:
    (found,) = [one for one in peer.told() if "ok" in one]
    return found


def refusal(peer: Peer) -> object:
    found = answer(peer)
    assert found["ok"] is False
    return found["code"]


def words(peer: Peer) -> list[object]:
    return [one.get("do") for one in peer.told()]


# ── deposits ──────────────────────────────────────────────────────────────────


def test_whoever_deposits_is_asked_for_a_proof(here: House) -> None:
    holder = here.peer()
    here.deposit(holder=holder, name="x", keep=False)
    here.keeper_state.note_exit(ONE, 6)
    again = here.peer()
    fds = [os.dup(fd) for fd in here.kept().fds]
    facts = {**here.kept().facts, "name": "y", "keep": True}
    again.say(*fds, do="deposit", id=ONE, facts=facts, exit=9)
    for fd in fds:
        os.close(fd)

    told = again.told()
    assert told[0] == {"ok": True, "exit": 6}
    assert told[1] == {"do": "changed", "name": "x", "keep": False}
    assert told[2] == {"do": "prove"}
    assert len(told) == 3


def test_a_deposit_with_other_descriptors_is_refused(here: House) -> None:
    here.deposit(ONE)
    here.deposit(TWO)
    stranger = here.peer()
    fds = here.kept(TWO).fds
    stranger.say(*fds, do="deposit", id=ONE, facts=here.kept(ONE).facts)

    assert refusal(stranger) == "not-proven"
    assert len(here.keeper_state.links_of(ONE)) == 1
    assert stranger.near not in here.keeper_state.held


def test_a_deposit_of_what_was_forgotten_is_refused(here: House) -> None:
    here.deposit(ONE)
    facts, fds = here.kept().facts, [os.dup(fd) for fd in here.kept().fds]
    here.keeper_state.forget(ONE)
    late, heir = here.peer(), here.peer()
    places.session_socket(ONE).touch()
    late.say(*fds, do="deposit", id=ONE, facts=facts)
    heir.say(*fds, do="inherit", id=ONE, facts=facts)
    for fd in fds:
        os.close(fd)

    assert refusal(late) == "session-not-found"
    assert refusal(heir) == "session-not-found"
    assert ONE not in here.keeper_state.vault.deposits
    assert not places.session_socket(ONE).exists()


def test_what_a_trustee_hands_on_is_kept_with_its_end(here: House) -> None:
    here.deposit(ONE)
    facts, fds = here.kept().facts, here.kept().fds
    heir = here.peer()
    here.requests.expect({TWO}, time.monotonic())
    before = here.requests.next_deadline()
    assert before is not None
    heir.say(*fds, do="inherit", id=TWO, facts=facts, exit=3)
    heir.say(*fds[:2], do="inherit", id=TWO, facts=facts)

    told = heir.told()
    assert told[0] == {"ok": True}
    assert (told[1]["ok"], told[1]["code"]) == (False, "malformed-message")
    assert here.kept(TWO).exit == 3
    assert not here.kept(TWO).is_held
    after = here.requests.next_deadline()
    assert after is not None
    assert after > before  # It may have more to give.


# ── who asks too early ────────────────────────────────────────────────────────


def test_nobody_is_told_what_there_is_before_everybody_has_come(here: House) -> None:
    asker = here.peer()
    begun = time.monotonic()
    here.requests.expect({ONE}, begun)
    asker.say(do="list")
    here.requests.tick(begun)
    assert here.requests.next_deadline() == begun + KNOCK_PATIENCE
    assert asker.told() == []
    here.deposit(ONE)
    here.requests.tick(begun)

    assert here.requests.next_deadline() is None
    sessions = answer(asker)["sessions"]
    assert isinstance(sessions, list)
    assert [one["id"] for one in sessions] == [ONE]


def test_somebody_who_never_comes_is_waited_for_a_second(here: House) -> None:
    asker = here.peer()
    here.requests.expect({ONE}, 100.0)
    asker.say(do="list")
    asker.say(do="status")
    assert answer(asker)["sessions"] == 0  # That can be told at any time.
    here.requests.tick(100.0 + KNOCK_PATIENCE)

    assert answer(asker)["sessions"] == []
    here.requests.expect(set(), 100.0)
    assert here.requests.next_deadline() is None


# ── dozing ────────────────────────────────────────────────────────────────────


def doze(holder: Peer, **differs: object) -> packets.Packet:
    left = os.memfd_create("left")
    packet = {"do": "doze", "id": ONE, "idle_ms": 17, **differs}
    holder.say(left, **packet)
    os.close(left)
    (found,) = [one for one in holder.told() if one.get("do") == "doze"]
    return found


def test_a_session_dozes_when_its_holder_asks_for_it(here: House) -> None:
    here.keeper_state.trustee.start()
    holder = here.deposit()

    assert doze(holder) == {"ok": True, "do": "doze"}
    assert here.kept().is_dozing
    assert here.kept().record.idle_ms == 17
    assert len(here.kept().fds) == 5
    assert doze(holder)["ok"] is False  # It does already.
    holder.hang_up()
    assert here.kept().replace_at is None


def test_a_session_dozes_only_when_nobody_needs_it(here: House) -> None:
    here.keeper_state.trustee.start()
    holder, stranger = here.deposit(consents=True), here.peer()

    assert doze(stranger)["code"] == "no-keeper"
    assert doze(holder, id=TWO)["code"] == "no-keeper"
    holder.say(do="doze", id=ONE, idle_ms="x")
    assert refusal(holder) == "malformed-message"
    assert not here.kept().is_dozing
    asker = here.peer()
    asker.say(do="rename", id=ONE, name="web")
    assert doze(holder)["code"] == "no-keeper"
    here.requests.is_closing = True
    assert doze(holder)["code"] == "no-keeper"
    holder.say(do="doze", id=ONE, idle_ms=17)
    assert refusal(holder) == "malformed-message"
    assert not here.kept().is_dozing
    assert len(here.kept().fds) == 4


# ── what a holder has to agree to ─────────────────────────────────────────────


def asked(holder: Peer) -> packets.Packet:
    (found,) = [one for one in holder.told() if one.get("do") == "may"]
    return found


def test_a_change_is_made_when_the_holder_agrees(here: House) -> None:
    holder, asker = here.deposit(consents=True), here.peer()
    asker.say(do="rename", id=ONE, name="web")
    question = asked(holder)
    assert asker.told() == []
    assert question["asked"] == {"do": "rename", "id": ONE, "name": "web"}
    stranger = here.peer()
    stranger.say(do="said", ticket=question["ticket"], ok=True)
    assert here.kept().record.name != "web"
    holder.say(do="said", ticket=question["ticket"], ok=True)

    assert answer(asker) == {"ok": True}
    assert here.kept().record.name == "web"
    assert holder.told() == [{"do": "changed", "name": "web", "keep": False}]
    holder.say(do="said", ticket=question["ticket"], ok=True)
    assert asker.told() == []


def test_what_a_holder_does_not_agree_to_is_not_done(here: House) -> None:
    holder, asker = here.deposit(consents=True), here.peer()
    asker.say(do="forget", id=ONE)
    ticket = asked(holder)["ticket"]
    no = {"code": "not-allowed", "text": "no", "facts": {"actor": "a"}}
    holder.say(do="said", ticket=ticket, ok="yes")
    assert asker.told() == []
    holder.say(do="said", ticket=ticket, ok=False, **no)

    assert answer(asker) == {"ok": False, **no}
    assert ONE in here.keeper_state.vault.deposits


def test_the_next_holder_is_asked_what_the_last_has_not_answered(here: House) -> None:
    here.deposit(TWO, consents=True)
    first, asker = here.deposit(consents=True), here.peer()
    asker.say(do="keep", id=ONE, keep=True)
    ticket = asked(first)["ticket"]
    first.hang_up()
    second = here.peer()
    fds = [os.dup(fd) for fd in here.kept().fds]
    second.say(*fds, do="deposit", id=ONE, facts=here.kept().facts)
    for fd in fds:
        os.close(fd)

    assert asked(second)["ticket"] == ticket
    second.say(do="said", ticket=ticket, ok=True)
    assert answer(asker) == {"ok": True}
    assert here.kept().record.keep


def test_a_holder_that_never_answers_leaves_things_as_they_are(here: House) -> None:
    here.deposit(consents=True)
    asker = here.peer()
    before = time.monotonic()
    asker.say(do="forget", id=ONE)
    due = here.requests.next_deadline()
    assert due is not None
    assert before + CONSENT <= due <= time.monotonic() + CONSENT
    here.requests.tick(due - 0.1)
    assert asker.told() == []
    here.requests.tick(due)

    assert refusal(asker) == "no-keeper"
    assert ONE in here.keeper_state.vault.deposits
    assert here.requests.next_deadline() is None


def test_what_nobody_holds_can_be_forgotten_after_a_while(here: House) -> None:
    here.deposit(consents=True).hang_up()
    asker = here.peer()
    asker.say(do="forget", id=ONE)
    due = here.requests.next_deadline()
    assert due is not None
    here.requests.tick(due)

    assert answer(asker) == {"ok": True}
    assert ONE not in here.keeper_state.vault.deposits


def test_a_holder_of_older_code_is_not_asked(here: House) -> None:
    holder, asker = here.deposit(), here.peer()
    holder.told()
    asker.say(do="rename", id=ONE, name="web")

    assert answer(asker) == {"ok": True}
    assert words(holder) == ["changed"]


# ── new sessions ──────────────────────────────────────────────────────────────


def create(asker: Peer, **differs: object) -> None:
    asker.say(do="create", command=["true"], cwd="/", env={}, **differs)


def test_a_name_is_taken_as_soon_as_it_is_asked_for(here: House) -> None:
    nursery = here.nursery()
    first, second, third = here.peer(), here.peer(), here.peer()
    create(first, name="web")
    (wanted,) = nursery.asked()
    assert wanted["id"] == wanted["token"]
    create(second, name="WEB")
    assert refusal(second) == "name-taken"
    assert first.told() == []
    first_id = str(wanted["token"])
    places.session_dir()
    holder = here.peer()
    holder.say(do="failed", token=first_id, code="x", text="y", facts={})
    assert answer(first)["code"] == "x"
    assert answer(holder) == {"ok": True}
    create(third, name="web")

    assert third.told() == []
    assert len(nursery.asked()) == 1


@pytest.mark.parametrize("is_kept", [True, False])
def test_of_a_start_that_failed_only_a_record_may_stay(
    here: House, *, is_kept: bool
) -> None:
    nursery, asker, holder = here.nursery(), here.peer(), here.peer()
    create(asker)
    (wanted,) = nursery.asked()
    token = str(wanted["token"])
    own = type(ONE)(token)
    places.session_log(own).touch()
    places.session_socket(own).touch()
    holder.say(do="failed", token=token, kept=is_kept)

    assert places.session_log(own).exists() is is_kept
    assert not places.session_socket(own).exists()
    assert token not in here.keeper_state.births
    assert answer(asker)["ok"] is False


def test_without_a_nursery_there_is_no_new_session(here: House) -> None:
    asker = here.peer()
    create(asker)

    assert refusal(asker) == "no-keeper"
    assert here.keeper_state.waiting == {}


def test_a_host_keeps_so_many_sessions_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv(LIMIT, "2")
    with house(tmp_path) as here:
        here.nursery()
        here.deposit(ONE)
        first, second = here.peer(), here.peer()
        create(first)
        create(second)

        assert first.told() == []
        assert refusal(second) == "host-full"


def test_who_waited_is_told_when_the_new_session_is_deposited(here: House) -> None:
    nursery, asker = here.nursery(), here.peer()
    create(asker, name="web")
    (wanted,) = nursery.asked()
    token = str(wanted["token"])
    assert token in here.keeper_state.births
    here.deposit(ONE)
    holder = here.peer()
    fds = here.kept().fds
    facts = {**here.kept().facts, "name": "web"}
    holder.say(*fds, do="deposit", id=token, facts=facts, token=token, exit=2)

    told = answer(asker)
    assert (told["ok"], told["id"], told["name"]) == (True, token, "web")
    assert token not in here.keeper_state.births
    assert here.keeper_state.waiting == {}
    assert here.kept(token).exit == 2


# ── the end of a keeper ───────────────────────────────────────────────────────


def test_a_keeper_that_is_to_end_lets_its_holders_rest(here: House) -> None:
    here.nursery()
    holder, asker = here.deposit(ONE), here.peer()
    holder.told()
    asker.say(do="down")

    assert answer(asker) == {"ok": True, "pid": os.getpid()}
    assert here.requests.is_closing
    assert words(holder) == ["rest"]
    late = here.peer()
    fds = [os.dup(fd) for fd in here.kept().fds]
    late.say(*fds, do="deposit", id=ONE, facts=here.kept().facts)
    for fd in fds:
        os.close(fd)
    assert words(late)[-1] == "rest"
    create(asker)
    assert refusal(asker) == "no-keeper"
