"""What a holder tells its keeper, and what it obeys and answers."""

import math
import os
import socket
import time

import pytest
from tests.holder.keeper_world import PATIENCE, TAKEN, Keeper
from tests.holder.links.keeper_link_world import SESSION, World

from holdfast.holder.links.connection import Connection
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.linux import packets
from holdfast.linux.stored import session_names
from holdfast.model.errors import NotAllowed
from holdfast.model.keeper_messages import Seen
from holdfast.wire import messages as wire
from holdfast.wire.codec import decode
from holdfast.wire.frames import FrameReader

# ── what is told ──────────────────────────────────────────────────────────────


def test_a_keeper_is_told_what_has_changed(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    joined.change({"name": "other"})

    assert keeper.heard() == {"do": "facts", "id": SESSION, "name": "other"}
    assert here.descriptors.record.name == "other"
    assert here.descriptors.held.ended_ms is None


def test_the_end_has_one_time_however_often_it_is_told(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    before = time.time_ns() // 1_000_000
    joined.change({"state": "exited", "exit": 3})
    told = keeper.heard()
    joined.change({"state": "exited", "exit": 3, "name": "x"})

    assert before <= int(str(told["ended_ms"])) <= time.time_ns() // 1_000_000
    assert here.descriptors.held.ended_ms == told["ended_ms"]
    assert keeper.heard()["ended_ms"] == told["ended_ms"]


def test_what_changed_without_a_keeper_is_in_the_next_deposit(
    here: World, keeper: Keeper
) -> None:
    link = here.link()
    link.change({"state": "exited", "exit": 3})
    brought = keeper.expect(TAKEN)
    link.deposit()

    packet = brought.result(PATIENCE)
    assert packet["exit"] == 3
    facts = packet["facts"]
    assert isinstance(facts, dict)
    assert facts["state"] == "exited"


def test_a_holder_proves_that_its_loop_runs(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    del joined
    keeper.say(do="prove")
    here.hear()

    assert keeper.heard() == {"do": "proof", "id": SESSION}


def test_what_nobody_knows_is_ignored(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    keeper.say(do="dance")
    here.hear()

    assert joined.is_wanted
    assert joined.leave_by is None
    assert not keeper.has_more()


def test_a_change_by_the_keeper_is_in_the_record_and_in_the_name(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    keeper.say(do="changed", name="web", keep=True)
    here.hear()

    assert (here.descriptors.record.name, here.descriptors.record.keep) == ("web", True)
    assert session_names.name_of(SESSION) == "web"
    keeper.say(do="forget")
    here.hear()
    assert not joined.is_wanted
    assert session_names.name_of(SESSION) == ""


@pytest.mark.parametrize(
    ("pid", "told"), [(12, 12), ("12", 0)], ids=["a number", "no number"]
)
def test_clients_are_told_what_was_replaced(
    here: World, keeper: Keeper, joined: KeeperLink, pid: object, told: int
) -> None:
    del joined
    keeper.say(do="replaced", what="judge", pid=pid, why="it hung")
    here.hear()
    near, far = socket.socketpair()
    newcomer = Connection(near, here.poll, [])
    here.clients.brief(newcomer)
    newcomer.flush()
    (frame,) = FrameReader().feed(far.recv(1 << 12))
    newcomer.close()
    far.close()

    event = decode(frame)
    assert isinstance(event, wire.Event)
    assert (event.name, event.session) == ("process.replaced", SESSION)
    assert event.fields == {"what": "judge", "pid": told, "why": "it hung"}


# ── what it is asked ──────────────────────────────────────────────────────────


def test_a_holder_says_whether_a_change_may_be_made(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    asked: list[packets.Packet] = []
    joined.demand_change = asked.append
    keeper.say(do="may", ticket=5, asked={"do": "rename"})
    here.hear()

    assert asked == [{"do": "rename"}]
    assert keeper.heard() == {"do": "said", "ticket": 5, "ok": True}


def test_a_holder_says_why_a_change_may_not_be_made(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    error = NotAllowed("bot", "end")

    def refuse(_: packets.Packet) -> None:
        raise error

    joined.demand_change = refuse
    keeper.say(do="may", ticket=6, asked={"do": "rename"})
    here.hear()

    told = keeper.heard()
    assert (told["do"], told["ticket"], told["ok"]) == ("said", 6, False)
    assert (told["code"], told["text"]) == ("not-allowed", str(error))
    assert told["facts"] == error.facts


@pytest.mark.parametrize("asked", [None, "rename", {"do": "rename"}])
def test_without_somebody_to_ask_nothing_may_be_changed(
    here: World, keeper: Keeper, joined: KeeperLink, asked: object
) -> None:
    if not isinstance(asked, dict):
        joined.demand_change = lambda _: None
    keeper.say(do="may", ticket=7, asked=asked)
    here.hear()

    told = keeper.heard()
    assert (told["ok"], told["code"]) == (False, "not-proven")


def test_a_keeper_that_wants_a_glance_gets_it(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    joined.glance = lambda: Seen(
        "s_forged", "running", "anna", ("anna", "bot"), 7, 1, 99
    )
    keeper.say(do="glance")
    here.hear()

    assert keeper.heard() == {
        "do": "seen",
        "id": SESSION,
        "doing": "running",
        "turn_of": "anna",
        "attached": ["anna", "bot"],
        "output_ms": 7,
        "operating": 1,
        "offset": 99,
    }


# ── dozing ────────────────────────────────────────────────────────────────────


def test_without_a_keeper_no_session_dozes(here: World) -> None:
    assert not here.link().doze([], 0)


@pytest.mark.parametrize("word", [True, False, "true", None])
def test_a_session_dozes_if_its_keeper_says_so(
    here: World, keeper: Keeper, joined: KeeperLink, word: object
) -> None:
    left = os.memfd_create("left")
    keeper.say(do="changed", name="meanwhile")
    keeper.say(do="doze", ok=word)
    before = len(keeper.fds)
    joined.glance = lambda: Seen(doing="at-prompt", output_ms=99)

    assert joined.doze([left], 1234) is (word is True)

    assert here.descriptors.record.name == "meanwhile"
    assert keeper.heard() == {
        "do": "doze",
        "id": SESSION,
        "idle_ms": 1234,
        "doing": "at-prompt",
        "output_ms": 99,
        "offset": 0,
    }
    assert [os.fstat(fd).st_ino for fd in keeper.fds[before:]] == [
        os.fstat(left).st_ino
    ]
    os.close(left)
    assert here.due == math.inf
    here.poll.turn(0)  # What has not been said does not block.


def test_a_keeper_that_leaves_amid_the_question_is_looked_for(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    watched = here.poll.count
    keeper.leave()

    assert not joined.doze([], 0)
    assert here.poll.count == watched - 1
    assert here.due <= time.monotonic()


def test_whatever_a_silent_keeper_says_later_the_holder_may_end(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    del here

    assert joined.doze([], 0)
    assert keeper.heard()["do"] == "doze"
