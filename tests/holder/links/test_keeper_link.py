"""A holder's link to its keeper: what it deposits, obeys and answers, and what it does
while there is no keeper."""

import math
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.holder.keeper_world import PATIENCE, TAKEN, Keeper
from tests.scenarios import leftovers
from tests.scenarios.support import eventually

from holdfast.holder.links.attached_clients import Company
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.keeper_link import LEAVE_PATIENCE, RETRY, KeeperLink
from holdfast.holder.poll import Poll
from holdfast.holder.session_descriptors import Vaulted
from holdfast.holder.timers import Timers
from holdfast.linux import packets, pty, start
from holdfast.linux.stored import folders, session_names
from holdfast.model.errors import NotAllowed
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId
from holdfast.model.session_record import HeldRecord, SessionRecord
from holdfast.version import __version__
from holdfast.wire import messages as wire
from holdfast.wire.codec import decode
from holdfast.wire.frames import FrameReader

SESSION = SessionId("s_" + "a" * 16)


@dataclass
class World:
    """What a holder's link to its keeper works with."""

    vaulted: Vaulted
    poll: Poll
    timers: Timers
    company: Company

    def link(self) -> KeeperLink:
        """Return a link that has not begun."""
        return KeeperLink(self.vaulted, self.poll, self.timers, self.company)

    @property
    def due(self) -> float:
        """When it has to be called; infinity if it waits for nothing."""
        self.timers.refresh()
        return self.timers.first

    def turn(self, later: float = 0.0) -> None:
        """Do what the clock demands, now or some seconds later."""
        self.timers.tick(time.monotonic() + later)

    def hear(self) -> None:
        """Take one thing that the keeper said."""
        assert self.poll.turn(PATIENCE)

    def hang_up(self) -> None:
        """Close our end, if the keeper is gone."""
        while self.poll.turn(0):
            pass


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "runtime"))
    Path(folders.sessions_folder()).mkdir(parents=True, exist_ok=True)
    record = SessionRecord(SESSION, "build", os.getpid(), command=("true",), cwd="/")
    with socket.socket(socket.AF_UNIX) as listener:
        master, slave = pty.open_pty(Size(80, 24))
        memory, pidfd = os.memfd_create("memory"), os.pidfd_open(os.getpid())
        vaulted = Vaulted(record, HeldRecord(), master, memory, listener, pidfd)
        made = World(vaulted, Poll(), Timers(), Company())
        yield made
        made.poll.close()
        for fd in (master, slave, memory, pidfd):
            os.close(fd)


@pytest.fixture
def keeper(here: World) -> Iterator[Keeper]:
    made = Keeper()
    yield made
    made.close()
    here.hang_up()


@pytest.fixture
def joined(here: World, keeper: Keeper) -> KeeperLink:
    """A link to a keeper that has taken everything."""
    link = here.link()
    brought = keeper.expect(TAKEN)
    link.begin("", None)
    brought.result(PATIENCE)
    return link


# ── what is deposited ─────────────────────────────────────────────────────────


def test_a_deposit_is_everything_the_session_needs(here: World, keeper: Keeper) -> None:
    link = here.link()
    brought = keeper.expect(TAKEN)

    assert link.begin("t1", None) is None

    packet = brought.result(PATIENCE)
    assert packet["do"] == "deposit"
    assert packet["id"] == SESSION
    assert packet["token"] == "t1"  # noqa: S105  # a name
    assert packet["exit"] is None
    assert [os.fstat(fd).st_ino for fd in keeper.fds] == [
        os.fstat(fd).st_ino for fd in here.vaulted.fds()
    ]
    facts = packet["facts"]
    assert isinstance(facts, dict)
    assert (facts["name"], facts["holder"]) == ("build", os.getpid())
    assert (facts["version"], facts["consents"]) == (__version__, True)
    assert session_names.name_of(SESSION) == "build"
    assert here.due == math.inf


@pytest.mark.parametrize(
    ("known", "answered", "learnt"),
    [(None, None, None), (None, 7, 7), (3, None, 3), (3, 7, 3), (None, "7", None)],
)
def test_a_keeper_may_know_how_the_leader_ended_meanwhile(
    here: World, keeper: Keeper, known: int | None, answered: object, learnt: object
) -> None:
    link = here.link()
    brought = keeper.expect({"ok": True, "exit": answered})

    assert link.begin("", known) == learnt
    assert brought.result(PATIENCE)["exit"] == known


def test_what_is_said_before_the_answer_is_obeyed(here: World, keeper: Keeper) -> None:
    link = here.link()
    keeper.expect({"do": "leave"}, TAKEN)

    link.begin("", None)

    assert link.leave_by is not None


def test_a_session_that_was_forgotten_meanwhile_is_wanted_no_more(
    here: World, keeper: Keeper
) -> None:
    link = here.link()
    keeper.expect({"ok": False, "code": "session-not-found"})

    link.begin("", None)

    assert not link.is_wanted
    assert session_names.name_of(SESSION) == ""
    assert here.due <= time.monotonic()


@pytest.mark.parametrize("answers", [({"ok": False, "code": "no-keeper"},), ()])
def test_a_keeper_that_does_not_take_it_is_asked_again(
    here: World, keeper: Keeper, answers: tuple[packets.Packet, ...]
) -> None:
    link = here.link()
    watched = here.poll.count
    keeper.expect(*answers)
    link.begin("", 5)

    assert link.is_wanted
    assert here.poll.count == watched
    assert here.due <= time.monotonic()
    brought = keeper.expect(TAKEN)
    here.turn()
    assert brought.result(PATIENCE)["exit"] == 5
    assert here.poll.count == watched + 1
    assert here.due == math.inf


# ── without a keeper ──────────────────────────────────────────────────────────


def test_without_a_keeper_one_is_looked_for_at_once(here: World) -> None:
    link = here.link()

    assert link.begin("", 4) == 4
    assert here.due <= time.monotonic()
    assert session_names.name_of(SESSION) == "build"


def test_while_resting_no_keeper_is_looked_for_until_one_knocks(here: World) -> None:
    here.vaulted.is_resting = True
    link = here.link()
    link.begin("", None)

    assert here.due == math.inf
    link.knocked()
    assert here.due <= time.monotonic()
    here.turn()  # It was somebody else who knocked.
    assert here.due == math.inf
    assert not Path(folders.runtime_path(), "keeper.log").exists()


def test_whoever_has_a_keeper_looks_for_none_when_somebody_knocks(
    here: World, joined: KeeperLink
) -> None:
    joined.knocked()

    assert here.due == math.inf


def test_nothing_is_done_before_it_is_time(here: World, keeper: Keeper) -> None:
    link = here.link()
    keeper.expect({"ok": False})
    link.begin("", None)
    brought = keeper.expect(TAKEN)
    link.tick(here.due - 1)

    assert not brought.done()
    here.turn()
    assert brought.result(PATIENCE)["do"] == "deposit"
    link.tick(math.inf)
    assert not keeper.has_more()


def test_a_keeper_is_started_by_whoever_has_the_claim(here: World) -> None:
    claim = start.claim_start()
    assert claim is not None
    link = here.link()
    link.begin("", None)
    log = Path(folders.runtime_path(), "keeper.log")
    try:
        begun = time.monotonic()
        here.turn()
        assert begun + RETRY / 2 <= here.due <= time.monotonic() + RETRY * 1.5
        assert not log.exists()
        os.close(claim)
        eventually("a keeper", lambda: _answers(here))
    finally:
        leftovers.end_everything(folders.runtime_path())
    assert log.exists()
    assert start.claim_start() is None

    keeper = Keeper()
    keeper.expect(TAKEN)
    here.turn(2)
    assert here.due == math.inf
    again = start.claim_start()
    assert again is not None
    os.close(again)
    keeper.close()
    here.hang_up()


def _answers(here: World) -> bool:
    here.turn(1)
    packets.connect(folders.keeper_address(), 1.0).close()
    return True


def test_a_keeper_that_leaves_is_looked_for_at_once(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    del joined
    watched = here.poll.count
    keeper.leave()
    here.hear()

    assert here.poll.count == watched - 1
    assert here.due <= time.monotonic()


def test_a_keeper_that_was_told_to_stop_is_not_looked_for(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    keeper.say(do="rest")
    here.hear()
    assert not joined.doze([], 0)
    keeper.leave()
    here.hear()

    assert here.due == math.inf
    joined.knocked()
    keeper.expect(TAKEN).add_done_callback(lambda _: keeper.leave())
    here.turn()
    here.hear()
    assert here.due <= time.monotonic()  # A new one lets nobody rest.


# ── what is told ──────────────────────────────────────────────────────────────


def test_a_keeper_is_told_what_has_changed(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    joined.change({"name": "other"})

    assert keeper.heard() == {"do": "facts", "id": SESSION, "name": "other"}
    assert here.vaulted.record.name == "other"
    assert here.vaulted.held.ended_ms is None


def test_the_end_has_one_time_however_often_it_is_told(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    before = time.time_ns() // 1_000_000
    joined.change({"state": "exited", "exit": 3})
    told = keeper.heard()
    joined.change({"state": "exited", "exit": 3, "name": "x"})

    assert before <= int(str(told["ended_ms"])) <= time.time_ns() // 1_000_000
    assert here.vaulted.held.ended_ms == told["ended_ms"]
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

    assert (here.vaulted.record.name, here.vaulted.record.keep) == ("web", True)
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
    here.company.brief(newcomer)
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


# ── leaving ───────────────────────────────────────────────────────────────────


def test_a_holder_leaves_when_nothing_is_half_done_or_after_a_while(
    here: World, keeper: Keeper, joined: KeeperLink
) -> None:
    assert not joined.may_leave(is_busy=False)
    before = time.monotonic()
    keeper.say(do="leave")
    here.hear()

    assert joined.leave_by is not None
    assert joined.leave_by >= before + LEAVE_PATIENCE
    assert here.due == joined.leave_by
    assert joined.may_leave(is_busy=False)
    assert not joined.may_leave(is_busy=True)
    joined.leave_by = before
    assert joined.may_leave(is_busy=True)
    assert not joined.doze([], 0)
    assert not keeper.has_more()


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

    assert joined.doze([left], 1234) is (word is True)

    assert here.vaulted.record.name == "meanwhile"
    assert keeper.heard() == {"do": "doze", "id": SESSION, "idle_ms": 1234}
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
