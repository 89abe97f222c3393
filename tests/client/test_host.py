"""How the host of this machine is asked, waited for, and ended."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.client import host
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.errors import HostDidNotStart
from holdfast.model.session_requests import Look

Answer = Callable[[packets.Packet], packets.Packet | None]


class Host:
    """A host that says what a test has it say; nothing: it hangs up."""

    def __init__(self, answer: Answer) -> None:
        self._listener = packets.listen(places.host_socket())
        self._answer = answer
        self.asked: list[object] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            with link:
                heard = packets.receive(link)
                if heard is None:
                    continue
                self.asked.append(heard[0]["do"])
                answer = self._answer(heard[0])
                if answer is not None:
                    packets.send(link, answer)

    def close(self) -> None:
        """Be gone."""
        places.host_socket().unlink(missing_ok=True)
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def hosts() -> Iterator[Callable[[Answer], Host]]:
    made: list[Host] = []

    def begin(answer: Answer) -> Host:
        made.append(Host(answer))
        return made[-1]

    yield begin
    for one in made:
        one.close()


Begin = Callable[[Answer], Host]


def test_without_a_host_nothing_is_answered() -> None:
    assert host.request(Look()) is None
    assert host.status() is None
    assert host.end() is False


def test_a_host_that_hangs_up_is_none(hosts: Begin) -> None:
    there = hosts(lambda _: None)

    assert host.request(Look()) is None
    assert host.status() is None
    assert there.asked == ["look", "status"]


def test_a_host_is_asked_and_says_how_it_does(hosts: Begin) -> None:
    hosts(lambda asked: {"ok": True, "pid": 7, "began": 1.5, "was": asked["do"]})

    found = host.status()

    assert found is not None
    assert (found.pid, found.began) == (7, 1.5)
    answer = host.request(Look())
    assert answer is not None
    assert answer["was"] == "look"


def test_a_host_that_is_there_is_not_waited_for(hosts: Begin) -> None:
    there = hosts(lambda _: {"ok": True, "pid": 7, "began": 1.5})

    assert host.wait().pid == 7
    assert host.wait(other_than=1.0).pid == 7
    assert there.asked == ["status", "status"]


def test_one_that_was_there_before_is_not_what_is_waited_for(hosts: Begin) -> None:
    said = iter([1.5, 1.5, 2.5])
    there = hosts(lambda _: {"ok": True, "pid": 7, "began": next(said)})

    assert host.wait(other_than=1.5).began == 2.5
    assert len(there.asked) == 3


def test_a_host_that_does_not_come_is_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host, "START_PATIENCE", 0.05)

    with pytest.raises(HostDidNotStart, match="no answer within 0 s"):
        host.wait()


def test_ending_a_host_waits_until_it_is_gone(hosts: Begin) -> None:
    here: packets.Packet = {"ok": True, "pid": 7}
    left = iter([here, here])
    there = hosts(
        lambda asked: {"ok": True} if asked["do"] == "end" else next(left, None)
    )

    assert host.end() is True
    assert there.asked == ["end", "status", "status", "status"]


def test_ending_a_host_that_stays_is_given_up(
    hosts: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "PATIENCE", 0.5)
    hosts(lambda _: {"ok": True, "pid": 7})

    assert host.end() is True
