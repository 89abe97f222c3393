import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from tests.scenarios.attached_link import attach, messages
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.scenarios.support import PATIENCE, eventually

from holdfast.client import keeper
from holdfast.client.calls import submit
from holdfast.client.driver import attachment_to
from holdfast.core.client.attachment import Attachment
from holdfast.model.errors import SessionUnreachable, Unavailable
from holdfast.model.inputs import InputKind
from holdfast.model.session_record import HeldRecord, listed_in
from holdfast.model.session_requests import ListSessions
from holdfast.wire.messages import Mode

LINES = 200
COUNTING = (
    f'i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo "line $i."; sleep 0.02; done'
)


@dataclass
class Around:
    """A relay, a host with a session that counts, and a client elsewhere."""

    between: RelayPlace
    home: Place
    away: Place
    session: str
    attachment: Attachment
    shown: bytearray = field(default_factory=bytearray)

    def watch_until(self, wanted: bytes) -> None:
        """Watch, through whatever is cut, until something was shown."""
        deadline = time.monotonic() + 2 * PATIENCE
        while wanted not in self.shown:
            assert time.monotonic() < deadline, self.shown[-200:]
            with contextlib.suppress(SessionUnreachable):
                link, _ = attach(self.attachment, patience=0.5)
                with link:
                    for message in messages(link, deadline):
                        self.shown += self.attachment.heard(message)
                        if wanted in self.shown:
                            return

    def numbers(self) -> list[int]:
        """Return the lines that were shown, by their numbers."""
        return [int(one) for one in re.findall(rb"line (\d+)\.", self.shown)]


@pytest.fixture
def around() -> Iterator[Around]:
    with relay() as between, places() as (home, away):
        home.up(between.url)
        away.do("join", "-", "--name", "box", said=home.invite())
        session = home.new("sh", "-c", f"read go; {COUNTING}", name="web")
        with away.inhabited():
            keeper.find("box/web")
            attachment = attachment_to(session, Mode.OPERATE)
            submit(attachment_to(session), InputKind.KEYS, b"go\r", PATIENCE)
            yield Around(between, home, away, session, attachment)


def kill_relay(around: Around) -> None:
    around.between.kill()
    around.between.start()


def kill_host(around: Around) -> None:
    around.home.kill_host()
    around.home.up()


def kill_holder(around: Around) -> None:
    with around.home.inhabited():
        (facts,) = listed_in(keeper.request(ListSessions()))
    eventually("it is dead", lambda: _kill(HeldRecord.from_facts(facts).holder))


def kill_client(around: Around) -> None:
    # What another client of the same operator needs is the last byte, and no more.
    before, after = around.attachment, attachment_to(around.session)
    after.offset, after.incarnation = before.offset, before.incarnation
    around.attachment = after


def _kill(pid: int) -> bool:
    os.kill(pid, signal.SIGKILL)
    return True


@pytest.mark.parametrize("kill", [kill_relay, kill_host, kill_holder, kill_client])
def test_whoever_is_killed_every_line_is_shown_once(
    around: Around, kill: Callable[[Around], None]
) -> None:
    around.watch_until(b"line 20.")

    kill(around)

    around.watch_until(f"line {LINES}.".encode())
    assert around.numbers() == list(range(1, LINES + 1))


def test_all_of_them_in_turn(around: Around) -> None:
    for number, kill in enumerate((kill_relay, kill_holder, kill_host, kill_relay)):
        around.watch_until(f"line {20 + 20 * number}.".encode())
        kill(around)

    around.watch_until(f"line {LINES}.".encode())
    assert around.numbers() == list(range(1, LINES + 1))


def test_an_input_that_was_sent_into_a_cut_is_applied_once(around: Around) -> None:
    session = around.home.new("cat", name="cat")
    keeper.find("box/cat")
    attachment = attachment_to(session)

    for number in range(6):
        if number in (1, 3):
            around.between.kill()
            around.between.start()
        deadline = time.monotonic() + PATIENCE
        payload = f"number-{number}\r".encode()
        while True:
            try:
                submit(attachment, InputKind.KEYS, payload, PATIENCE)
            except Unavailable:
                assert time.monotonic() < deadline
                continue
            break

    around.attachment = attachment_to(session, Mode.OBSERVE)
    around.shown.clear()
    around.watch_until(b"number-5\r\nnumber-5")
    # Each is there twice: echoed by the terminal, and printed by cat.
    found = re.findall(rb"number-(\d)", around.shown)
    assert [int(one) for one in found] == [n for n in range(6) for _ in range(2)]


def test_when_one_relay_is_gone_another_leads_there() -> None:
    with relay() as first, relay() as second, places() as (home, away):
        home.up(first.url, second.url)
        away.do("join", "-", "--name", "box", said=home.invite())
        home.new("cat", name="web")

        first.kill()

        away.do("send", "box/web", "--enter", "still-here")
        assert "still-here" in home.do("read", "web")
        first.start()
        second.kill()
        eventually("the first is back", lambda: away.run("ls", "box/").returncode == 0)
