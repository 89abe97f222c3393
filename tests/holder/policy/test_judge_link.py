import math
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.core.policy.policy import Judgement
from holdfast.core.policy.rules import Webhook
from holdfast.holder.policy.judge_link import (
    LATE,
    LOST,
    NONSENSE,
    PATIENCE,
    TOO_LARGE,
    UNREACHABLE,
    Asked,
    JudgeLink,
)
from holdfast.holder.poll import Poll
from holdfast.holder.timers import Timers
from holdfast.linux import packets
from holdfast.linux.judge_packets import MAX_PACKET, Answer, Ask
from holdfast.linux.stored import places
from holdfast.model.verdicts import Verdict

LONG = 20.0
WHOM = " (plug-in one, webhook)"
ALLOWED = Judgement(Verdict.ALLOW, "plugin-one")


def an_ask(ticket: int, question: dict[str, object]) -> Ask:
    return Ask(ticket, question, ("one",), Webhook("http://localhost/", 1.0))


class Bench:
    """A holder's side, and a judge that says what the test wants."""

    def __init__(self) -> None:
        self.poll = Poll()
        self.timers = Timers()
        self.link = JudgeLink(self.poll, self.timers)
        self.listener: socket.socket | None = packets.listen(places.judge_socket())
        self.told: list[Answer] = []
        self.links: list[socket.socket] = []

    def ask(self, ticket: int = 1, question: dict[str, object] | None = None) -> Asked:
        return self.link.ask(an_ask(ticket, question or {}), self.told.append)

    def accept(self) -> socket.socket:
        assert self.listener is not None
        made, _ = self.listener.accept()
        made.settimeout(LONG)
        self.links.append(made)
        return made

    def turn(self) -> None:
        self.poll.turn(0.01)
        self.timers.tick(time.monotonic())

    def wait(self, count: int = 1) -> list[Answer]:
        ends_at = time.monotonic() + LONG
        while len(self.told) < count:
            assert time.monotonic() < ends_at, "nobody was told"
            self.turn()
        return self.told

    def is_empty(self) -> bool:
        self.timers.tick(time.monotonic())
        is_idle = self.link.count == 0 and self.timers.first == math.inf
        return is_idle and self.poll.count == 0

    def close(self) -> None:
        self.link.close()
        for one in (*self.links, *([self.listener] if self.listener else [])):
            one.close()
        self.poll.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    os.environ["HOLDFAST_RUNTIME_DIR"] = str(folder)
    made = Bench()
    yield made
    made.close()
    del os.environ["HOLDFAST_RUNTIME_DIR"]


def test_a_question_that_is_asked_before_there_is_a_judge_is_answered(
    bench: Bench,
) -> None:
    bench.ask(7, {"actor": "x"})

    judge = bench.accept()
    asked = Ask.from_bytes(judge.recv(MAX_PACKET))
    judge.send(Answer(7, ALLOWED).to_bytes())

    assert (asked.ticket, asked.question, asked.plugins) == (
        7,
        {"actor": "x"},
        ("one",),
    )
    assert bench.wait() == [Answer(7, ALLOWED)]
    assert bench.is_empty()
    assert judge.recv(10) == b""


def test_what_the_judge_says_of_its_failure_is_passed_on(bench: Bench) -> None:
    bench.ask()

    bench.accept().send(Answer(1, failed="got status 500").to_bytes())

    assert bench.wait() == [Answer(1, failed="got status 500")]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"{}", NONSENSE),
        (b"\xff\xfe", NONSENSE),
        (b"[" * 100_000, NONSENSE),
        (b'{"ticket":1,"verdict":"maybe","rule":"","why":""}', NONSENSE),
        (b'{"ticket":true,"verdict":"yes"}', NONSENSE),
        (Answer(2, ALLOWED).to_bytes(), NONSENSE),
        (Answer(1, ALLOWED).to_bytes() + b" " * MAX_PACKET, NONSENSE),
        (b"", LOST),
    ],
)
def test_whatever_else_comes_is_a_failure_and_not_read_twice_i2(
    bench: Bench, said: bytes, why: str
) -> None:
    bench.ask()
    judge = bench.accept()

    if said:
        judge.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MAX_PACKET)
        judge.send(said)
        judge.send(Answer(1, ALLOWED).to_bytes())
    judge.shutdown(socket.SHUT_RDWR)

    assert bench.wait() == [Answer(1, failed=why + WHOM)]
    assert bench.is_empty()


def test_a_judge_that_dies_with_the_question_unread_is_a_failure_i2(
    bench: Bench,
) -> None:
    bench.ask()

    bench.accept().close()

    assert bench.wait() == [Answer(1, failed=LOST + WHOM)]
    assert bench.is_empty()


def test_nobody_there_is_told_later_and_not_at_once_i1(bench: Bench) -> None:
    assert bench.listener is not None
    bench.listener.close()
    bench.listener = None
    before = time.monotonic()

    bench.ask()

    assert bench.told == []
    deadline = bench.timers.first
    assert deadline <= time.monotonic()
    assert deadline >= before
    assert bench.wait() == [Answer(1, failed=UNREACHABLE + WHOM)]
    assert bench.is_empty()


def test_a_door_with_too_many_before_it_is_not_waited_at_i2(bench: Bench) -> None:
    assert bench.listener is not None
    bench.listener.listen(0)

    for ticket in (1, 2, 3):
        bench.ask(ticket)

    told = bench.wait(2)
    assert told == [
        Answer(2, failed=UNREACHABLE + WHOM),
        Answer(3, failed=UNREACHABLE + WHOM),
    ]
    assert bench.link.count == 1


def test_a_question_too_large_for_a_packet_is_a_failure_i2(bench: Bench) -> None:
    bench.ask(question={"payload": "x" * MAX_PACKET})

    assert bench.wait() == [Answer(1, failed=TOO_LARGE + WHOM)]


def test_the_largest_question_there_is_fits(bench: Bench) -> None:
    room = MAX_PACKET - len(an_ask(1, {"payload": ""}).to_bytes())

    bench.ask(question={"payload": "x" * room})

    judge = bench.accept()
    assert len(judge.recv(2 * MAX_PACKET)) == MAX_PACKET
    assert bench.told == []


def test_silence_is_a_failure_when_the_time_is_up_i1(bench: Bench) -> None:
    before = time.monotonic()
    bench.ask()
    judge = bench.accept()
    deadline = bench.timers.first
    assert PATIENCE <= deadline - before < PATIENCE + LONG

    bench.link.tick(deadline - 0.001)
    assert bench.told == []
    bench.link.tick(deadline)

    assert bench.told == [Answer(1, failed=LATE + WHOM)]
    assert bench.is_empty()
    assert Ask.from_bytes(judge.recv(MAX_PACKET)).ticket == 1
    assert judge.recv(10) == b""


def test_a_dropped_question_is_answered_to_nobody_and_hung_up_on_i1_i3(
    bench: Bench,
) -> None:
    asked = bench.ask(1)
    dropped_at = bench.accept()
    bench.ask(2)
    other = bench.accept()
    dropped_at.send(Answer(1, ALLOWED).to_bytes())

    bench.link.drop(asked)
    bench.link.drop(asked)
    bench.poll.turn(0.01)

    with pytest.raises(ConnectionResetError):  # It is not read any more.
        dropped_at.recv(MAX_PACKET)
    assert bench.told == []
    other.send(Answer(2, ALLOWED).to_bytes())
    assert bench.wait() == [Answer(2, ALLOWED)]
    assert bench.is_empty()


def test_several_questions_are_each_told_their_own_answer_i1(bench: Bench) -> None:
    judges = []
    for ticket in (1, 2, 3):
        bench.ask(ticket)
        judges.append(bench.accept())

    judges[2].send(Answer(3, ALLOWED).to_bytes())
    judges[0].close()
    judges[1].send(Answer(2).to_bytes())

    found = sorted(bench.wait(3), key=lambda answer: answer.ticket)
    assert found == [Answer(1, failed=LOST + WHOM), Answer(2), Answer(3, ALLOWED)]
    assert bench.is_empty()
