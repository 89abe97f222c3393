"""Bells, notifications and `notify`, from a real program to everybody who is told."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.copies import PRESENT, copy, finish, folders, start_upgrade
from tests.scenarios.copies import machine_running as running
from tests.scenarios.dozing import dozing_machine, fall_asleep, leave, said
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.core.session.attention import BURST
from holdfast.host.guests import Guest
from holdfast.host.host_requests import answer
from holdfast.model.actors import ActorKind
from holdfast.model.events import EventName
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.model.session_requests import ListSessions
from holdfast.wire import messages as wire
from holdfast.wire.intents import Notify
from holdfast.wire.presence import Grant

CALLS = {
    b"\a": ("bell", ""),
    b"\x1b]9;tests are done\x07": ("message", "tests are done"),
    b"\x1b]777;notify;agent;may I?\x07": ("message", "agent: may I?"),
    b"\x1b]99;i=1:d=0;agent\x1b\\\x1b]99;i=1:p=body;may I?\x1b\\": (
        *("message", "agent: may I?"),
    ),
    b"\x1b]9;\xe2\x80\xaeevil\x1b\\": ("message", "\\u202eevil"),
}


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def printing(here: Machine) -> tuple[SessionId, Path]:
    """Return a session, and a terminal into which any process of ours may print."""
    session = here.new("sh", "-c", "tty; exec sleep 600")
    client = here.join(session)
    client.wait_output(b"\n")
    client.close()
    return session, Path(client.output.decode().split()[0])


def prints(terminal: Path, data: bytes) -> None:
    with terminal.open("wb", buffering=0) as out:
        out.write(data)


def attention(here: Machine, session: SessionId) -> dict[str, Any]:
    facts = here.facts(session)
    assert facts is not None
    found = facts["attention"]
    return found if isinstance(found, dict) and found["what"] else {}


def called(here: Machine, session: SessionId) -> dict[str, Any]:
    return eventually("it calls", lambda: attention(here, session))


def hears(client: Client, name: EventName) -> wire.Event:
    while (event := client.wait(wire.Event)).name != name:
        pass
    return event


@pytest.mark.parametrize("printed", CALLS, ids=repr)
def test_a_call_is_told_and_in_the_record(here: Machine, printed: bytes) -> None:
    session, terminal = printing(here)
    watcher = here.join(session)

    prints(terminal, printed)

    event = hears(watcher, EventName.ATTENTION_CALLED)
    what, text = CALLS[printed]
    assert (event.fields["what"], event.fields["text"]) == (what, text)
    assert event.fields["source"] == "program"
    found = called(here, session)
    assert found == {**event.fields}
    (listed,) = json.loads(said("ls", "--json"))["sessions"]
    assert listed["attention"] == found
    assert "calls you" in said("ls")


@pytest.mark.parametrize("kind", [InputKind.KEYS, InputKind.SIGNAL])
def test_the_next_input_clears_it_and_says_so(here: Machine, kind: InputKind) -> None:
    session, terminal = printing(here)
    watcher, anna = here.join(session), here.join(session, "anna")
    prints(terminal, b"\x1b]9;come\x07")
    called(here, session)

    anna.submit(b"28" if kind is InputKind.SIGNAL else b"x", kind)

    event = hears(watcher, EventName.ATTENTION_CLEARED)
    assert event.fields == {"what": "message", "actor": anna.operator.actor.id}
    eventually("it is cleared", lambda: not attention(here, session))
    assert "calls you" not in said("ls")


def test_a_resize_and_an_attach_clear_nothing(here: Machine) -> None:
    session, terminal = printing(here)
    prints(terminal, b"\x1b]9;come\x07")
    called(here, session)

    us = here.join(session)
    us.submit(b"90x30", InputKind.RESIZE)
    us.settle_through_cuts()

    assert attention(here, session)["text"] == "come"


def test_what_merely_ends_a_string_calls_nobody(here: Machine) -> None:
    session, terminal = printing(here)
    us = here.join(session)

    prints(terminal, b"\x1b]0;title\x07\x1b]9;4;1;50\x07\x1bPq\a\x1b\\\x1b]8;;x\x07end")

    us.wait_output(b"end")
    us.who()
    assert attention(here, session) == {}


def test_it_outlives_its_holder_and_the_keeper(here: Machine) -> None:
    session, terminal = printing(here)
    prints(terminal, b"\x1b]9;come\x07")
    found = called(here, session)

    here.replace_holder(session)
    assert attention(here, session) == found
    here.kill("keeper")
    here.wait_whole(session)
    assert attention(here, session) == found

    newcomer = here.join(session)
    assert hears(newcomer, EventName.ATTENTION_CALLED).fields == found
    newcomer.enter(b"x")
    eventually("it is cleared", lambda: not attention(here, session))


def test_it_outlives_dozing_and_waking() -> None:
    with dozing_machine() as here:
        session, terminal = printing(here)
        prints(terminal, b"\x1b]9;come\x07")
        found = called(here, session)
        fall_asleep(here, session)
        assert attention(here, session) == found

        us = here.join(session)

        assert hears(us, EventName.ATTENTION_CALLED).fields == found
        us.enter(b"x")
        leave(us)
        fall_asleep(here, session)
        assert attention(here, session) == {}
        prints(terminal, b"\a")
        assert called(here, session)["what"] == "bell"


def test_it_outlives_an_upgrade() -> None:
    with folders() as (folder, _), running(copy(folder, "0.0.1")) as here:
        session, terminal = printing(here)
        prints(terminal, b"\x1b]9;come\x07")
        found = called(here, session)
        before = here.pid("holder", session)

        finish(start_upgrade(PRESENT))

        eventually("new code", lambda: here.pid("holder", session) != before)
        assert attention(here, session) == found


def test_a_flood_wakes_nobody_more_often_than_told(here: Machine) -> None:
    session, terminal = printing(here)
    us = here.join(session)

    with terminal.open("wb", buffering=0) as out:
        for number in range(3000):
            out.write(b"\a\x1b]9;call %d\x07\n" % number)
        out.write(b"\x1b]9;" + b"x" * 1_000_000 + b"\x07the end")
    us.wait_output(b"the end")
    us.who()

    came = us._inbox  # noqa: SLF001  # what was not waited for
    told = [one for one in came if isinstance(one, wire.Event)]
    assert 1 <= len(told) <= BURST + 10
    assert len(str(attention(here, session)["text"])) <= 200
    assert isinstance(us.enter(b"x"), wire.Acknowledge)


def test_an_operator_may_call_who_may_act_there_and_no_other(here: Machine) -> None:
    session, _ = printing(here)
    us, bot = here.join(session), here.join(session, "bot", ActorKind.AGENT)
    actor = bot.operator.actor.id

    assert bot.request(Notify("may I\x1b[2J deploy?")) is None

    found = called(here, session)
    assert (found["what"], found["source"]) == ("needs-input", actor)
    assert found["text"] == "may I\\x1b[2J deploy?"
    us.enter(b"x")
    for rights, is_refused in ((("observe",), True), (("observe", "command"), False)):
        assert us.request(Grant(actor, rights, 0)) is None
        refused = bot.request(Notify("look at me"))
        assert (refused is not None) is is_refused
        assert refused is None or refused.code == "not-allowed"
        assert bool(attention(here, session)) is not is_refused


def test_who_may_type_and_not_look_is_not_told_the_text(here: Machine) -> None:
    session, terminal = printing(here)
    us, anna = here.join(session), here.join(session, "anna")
    guest = Guest(anna.operator)
    prints(terminal, b"\x1b]9;the key is 7\x07")
    called(here, session)

    def told() -> str:
        ((listed,),) = (
            page["sessions"] for page in asyncio.run(answer(guest, ListSessions()))
        )
        return str(listed["attention"])

    assert "the key is 7" in told()
    us.request(Grant(anna.operator.actor.id, ("input",), 0))
    assert told() == "None"


def test_a_hook_inside_a_session_needs_no_name(here: Machine) -> None:
    hook = json.dumps({"hook_event_name": "Notification", "message": "may I?"})
    line = f"echo '{hook}' | {sys.executable} -m holdfast notify --needs-input -"
    session = here.new("sh", "-c", f"sleep 1; cd {Path.cwd()}; {line}; sleep 600")

    found = called(here, session)

    assert (found["what"], found["text"]) == ("needs-input", "may I?")


def test_no_call_while_a_program_thinks_and_it_is_busy_not_idle(here: Machine) -> None:
    thinks = (
        "import os, select, sys, time, tty\n"
        "tty.setraw(0)\n"
        "pipe, _ = os.pipe()\n"
        "print('\\033[?1049h', end='', flush=True)\n"
        "until = time.monotonic() + 4\n"
        "while True:\n"
        "    thinks = time.monotonic() < until\n"
        "    if thinks:\n"
        "        os.write(1, b'\\033]9;4;1;5\\007\\033]0;thinks\\007\\r*')\n"
        "    select.select([0, pipe], [], [], 0.1 if thinks else None)\n"
    )
    session = here.new(sys.executable, "-c", thinks)

    def state() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(said("state", session, "--json"))
        return found

    busy = eventually("it is busy", lambda: _if(state(), "busy"))
    idle = eventually("it is idle", lambda: _if(state(), "idle"))

    assert busy["program"] == idle["program"] != ""
    assert any("printed something" in why for why in busy["why"])
    assert any("printed nothing" in why for why in idle["why"])
    assert (idle["sure"], attention(here, session)) == (False, {})


def _if(found: dict[str, Any], state: str) -> dict[str, Any] | None:
    return found if found["state"] == state else None
