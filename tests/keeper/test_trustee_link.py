import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.keeper.trustee_link import TrusteeLink
from holdfast.keeper.vault import Vault
from holdfast.keeper.watched import Watched

MANY = 400
"""Deposits of about a kilobyte: more than a socket keeps for who does not read."""


class Kept:
    """A vault, and the trustee of it."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.vault = Vault()
        self.watched = Watched(print)
        self.trustee = TrusteeLink(self.vault, self.selector, self.watched)
        self.trustee.start()

    def turn_until(self, reached: Callable[[], object]) -> None:
        deadline = time.monotonic() + 10
        while not reached():
            assert time.monotonic() < deadline
            for key, events in self.selector.select(0.01):
                key.data(key.fileobj, events)
            self.trustee.tick(time.monotonic())

    def deposit(self, session: str) -> None:
        fd = os.open("/dev/zero", os.O_RDONLY)
        spare = self.vault.deposit(session, {"name": "n" * 1000}, [fd], 0)
        self.trustee.note(session, is_anew=True)
        for old in spare:
            os.close(old)

    def copies(self) -> int:
        """Return how many deposits the trustee has, as the kernel says."""
        found = 0
        for name in Path(f"/proc/{self.trustee.pid}/fd").iterdir():
            with contextlib.suppress(OSError):  # It is being exchanged.
                found += str(name.readlink()) == "/dev/zero"
        return found


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Kept]:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))
    made = Kept()
    yield made
    pid = made.trustee.pid
    made.trustee.end()
    os.waitpid(pid, 0)
    made.selector.close()
    for one in made.vault.deposits.values():
        for fd in one.fds:
            os.close(fd)


def test_a_deposit_has_a_second_copy_until_it_is_forgotten(kept: Kept) -> None:
    kept.deposit("s_1")
    kept.turn_until(lambda: kept.copies() == 1)

    os.close(*kept.vault.forget("s_1"))
    kept.trustee.note("s_1")

    kept.turn_until(lambda: kept.copies() == 0)


def test_a_deposit_that_comes_again_is_not_kept_twice(kept: Kept) -> None:
    kept.deposit("s_1")
    kept.deposit("s_1")
    kept.deposit("s_2")

    kept.turn_until(lambda: kept.copies() == 2)


def test_a_trustee_that_dies_is_replaced_by_one_that_has_everything(
    kept: Kept,
) -> None:
    kept.deposit("s_1")
    first = kept.trustee.pid

    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)
    kept.turn_until(lambda: kept.trustee.pid not in (0, first))

    kept.turn_until(lambda: kept.copies() == 1)
    assert kept.trustee.next_deadline() is None


def test_a_trustee_that_does_not_listen_is_told_when_it_does(kept: Kept) -> None:
    os.kill(kept.trustee.pid, signal.SIGSTOP)
    for number in range(MANY):
        kept.deposit(f"s_{number}")

    os.kill(kept.trustee.pid, signal.SIGCONT)

    kept.turn_until(lambda: kept.copies() == MANY)
