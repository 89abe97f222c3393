"""A session in which every documented event happens, and no other."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.agents import ASKED, shell
from tests.scenarios.shells import run, wait_editor
from tests.scenarios.support import Client, Machine, eventually, machine
from tests.scenarios.test_a_freeze_tells_the_truth import leave_cgroup, tracing
from tests.scenarios.test_a_listener_that_dies_is_told import has_pidfd, served
from tests.scenarios.test_a_policy_cannot_be_rewritten_by_whom_it_judges import record
from tests.scenarios.test_daemons_end_with_their_session import daemon
from tests.scenarios.test_watch_tells_what_happens import Watching

from holdfast.client import hosts
from holdfast.model.actors import ActorKind
from holdfast.model.events import EventName
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire
from holdfast.wire.intents import Notify

OF_IMAGES = {
    EventName.SESSION_CHECKPOINTED,
    EventName.SESSION_FORKED,
    EventName.SESSION_STOPPED,
    EventName.SESSION_RESTORED,
    EventName.SESSION_RECOVERED,
}
"""These are shown where there is CRIU: test_an_image_is_told_of.py."""

OF_CAPSULES = {EventName.SESSION_FENCED, EventName.LIMIT_MET}
"""And these where there are cgroups: test_a_lease_that_runs_out_fences.py and
test_a_capsule_has_limits.py."""

OF_REAPING = {
    EventName.REAP_WARNED,
    EventName.REAP_LIFTED,
    EventName.SESSION_REAPED,
    EventName.HOST_DRAINING,
}
"""And these where the settings say so: test_what_nobody_uses_is_reaped.py and
test_a_host_is_drained.py."""

OTHERS = set(EventName) - OF_IMAGES - OF_CAPSULES - OF_REAPING

NOBODY_THERE = hosts.KnownHost("gone", b"\1" * 32, b"\2" * 32, ("ws://127.0.0.1:9/",))


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def test_every_event_is_told_with_its_fields_and_no_other(
    here: Machine, tmp_path: Path
) -> None:
    session = shell(here, ASKED)
    us = here.join(session)
    bot = here.join(session, "bot", ActorKind.AGENT)
    wait_editor(here, session)
    hosts.save(NOBODY_THERE)
    watching = Watching(tmp_path, "--everywhere", "build")
    try:
        watching.told("session.unreachable", host="gone")
        watching.told("session.seen", session=session)
        eventually("it is watched", lambda: len(us.who().present) > 2)
        run(session, "sleep 2")  # It is looked at once a second.
        watching.told("state.changed")
        take_turns(us, bot)
        ask_at_the_gate(here, us, bot, tmp_path)
        stop_listening(here, session, us, tmp_path)
        freeze_and_thaw(here, session, us, watching)
        meddle(here, bot, watching)
        us.who()
        daemon(us, tmp_path)
        us.send(wire.End(signal.SIGHUP, leave=False))
        watching.told("session.exited")
    finally:
        watching.program.kill()
        watching.program.wait()

    told = watching.lines()
    assert {one["event"] for one in told} == OTHERS
    ours = {"event", "session", "host", "at_ms", "name"}
    fields = {(one["event"], frozenset(one.keys() - ours)) for one in told}
    assert fields == {(name.value, frozenset(name.fields)) for name in OTHERS}


def take_turns(us: Client, bot: Client) -> None:
    assert us.request(Notify("may I deploy?")) is None
    assert us.request(wire.Take()) is None
    bot.send(wire.Ask(20_000))
    us.wait(wire.TurnAsked)
    assert us.request(wire.Drop()) is None
    bot.who()  # It has the turn now, and knows of it.


def ask_at_the_gate(here: Machine, us: Client, bot: Client, folder: Path) -> None:
    made = folder / "made"
    # What is typed before the shell has told its state is shown anew afterwards.
    wait_editor(here, us.session)
    bot.submit(f"touch {made}\r".encode())
    pending = us.wait(wire.Pending)
    approval = wire.Approve(pending.ticket, pending.epoch, pending.digest)
    assert us.request(approval) is None
    eventually("it is made", made.exists)
    bot.settle()
    assert bot.request(wire.Drop()) is None
    us.who()


def stop_listening(here: Machine, session: SessionId, us: Client, folder: Path) -> None:
    pid, _ = served(us, folder)
    holder = here.pid("holder", session)
    eventually("it was seen", lambda: has_pidfd(holder, pid))
    os.kill(pid, signal.SIGKILL)
    us.wait(wire.Event)


def freeze_and_thaw(
    here: Machine, session: SessionId, us: Client, watching: Watching
) -> None:
    leader = here.pid("leader", session)
    leave_cgroup(leader)
    with tracing(leader):
        refused = us.request(wire.Freeze())
        assert refused is not None
        assert refused.code == "freeze-incomplete"

    def thawed_in_vain() -> bool:
        assert us.request(wire.Freeze()) is None
        with stopping(leader):
            assert us.request(wire.Thaw()) is None
        os.kill(leader, signal.SIGCONT)
        return any(one["event"] == "thaw.missed" for one in watching.lines())

    eventually("it was stopped in the middle of a thaw", thawed_in_vain)


@contextlib.contextmanager
def stopping(pid: int) -> Iterator[None]:
    """Stop a process again and again, as something else on the machine might."""
    is_over = threading.Event()

    def stop() -> None:
        while not is_over.is_set():
            os.kill(pid, signal.SIGSTOP)

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def meddle(here: Machine, bot: Client, watching: Watching) -> None:
    bot.who()
    record().write_bytes(b"x")
    bot.enter(b"true\r")
    watching.told("policy.kept")
    nursery = here.pid("nursery")
    os.kill(nursery, signal.SIGSTOP)
    watching.told("process.replaced", what="nursery", pid=nursery)
