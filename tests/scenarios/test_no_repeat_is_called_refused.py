"""Whoever repeats what was applied is never told that it was refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.core.input.serializer import MAX_CLIENTS, QUEUE_INPUTS
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

OTHERS = 10_000
"""Inputs of others, before somebody comes back and repeats what it sent."""

FIRST = 5
"""Inputs of the one that comes back."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


class Typed:
    """A program that keeps every line, and somebody who typed the first ones."""

    def __init__(self, here: Machine, folder: Path) -> None:
        self.here = here
        self.kept = folder / "kept"
        self.session = here.new("sh", "-c", f"stty -echo; cat >> {self.kept}")
        self.anna = here.join(self.session)
        self.sent = [self._type(number) for number in range(FIRST)]
        self.anna.close()

    def _type(self, number: int) -> wire.Submit:
        self.anna.submit(f"first {number}\n".encode())
        (sent,) = self.anna._open.values()  # noqa: SLF001  # sent again below
        assert isinstance(self.anna.settle_through_cuts(), wire.Acknowledge)
        return sent

    def repeat(self) -> set[str]:
        """Come back, send everything again, and return the words for it."""
        self.anna.attach()
        words = set()
        for sent in self.sent:
            self.anna.send(sent)
            said = self.anna.settle()
            words.add(said.code if isinstance(said, wire.Refuse) else "applied")
        return words

    def check(self) -> None:
        """Assert that every first line was kept once."""
        eventually("all is read", lambda: self.kept.read_text().count("first 4\n"))
        lines = self.kept.read_text().splitlines()
        assert [lines.count(f"first {number}") for number in range(FIRST)] == [1] * 5


def type_many(client: Client, count: int) -> None:
    """Type lines, as many at a time as may wait."""
    left = count
    while left:
        batch = min(left, QUEUE_INPUTS // 2)
        for _ in range(batch):
            client.post(b"other\n")
        for _ in range(batch):
            assert isinstance(client.settle(), wire.Acknowledge)
        left -= batch


def other(here: Machine, session: SessionId, number: int) -> Client:
    return here.join(session, f"other-{number}", ActorKind.HUMAN)


def take(client: Client) -> None:
    assert client.request(wire.Seize(wire.Halt.NONE)) is None
    client.epoch = client.who().epoch


@pytest.mark.parametrize("is_killed", [False, True])
def test_ten_thousand_inputs_later_a_repeat_is_known(
    here: Machine, tmp_path: Path, *, is_killed: bool
) -> None:
    typed = Typed(here, tmp_path)
    ben = other(here, typed.session, 0)
    take(ben)
    type_many(ben, OTHERS)
    if is_killed:
        here.replace_holder(typed.session)

    assert typed.repeat() <= {"applied", "outcome-forgotten"}
    typed.check()


@pytest.mark.parametrize("is_killed", [False, True])
def test_many_clients_later_a_repeat_is_not_called_stale(
    here: Machine, tmp_path: Path, *, is_killed: bool
) -> None:
    typed = Typed(here, tmp_path)
    for number in range(MAX_CLIENTS + 2):
        client = other(here, typed.session, number % 4)
        take(client)
        type_many(client, 1)
        client.close()
    if is_killed:
        here.replace_holder(typed.session)

    assert typed.repeat() == {"outcome-forgotten"}
    typed.check()


def test_whoever_may_only_look_now_is_told_what_became_of_what_it_sent(
    here: Machine, tmp_path: Path
) -> None:
    typed = Typed(here, tmp_path)
    typed.anna.mode = wire.Mode.OBSERVE

    assert typed.repeat() == {"applied"}
    typed.check()
