"""A session with a very long logbook is taken up as fast as any other."""

import os
import time
from pathlib import Path

import pytest
from tests.scenarios.copies import PRESENT, finish, start_upgrade
from tests.scenarios.long_book import lengthen
from tests.scenarios.support import Machine, eventually, machine

from holdfast.holder.record.book_recovery import state_path
from holdfast.linux.stored import places
from holdfast.linux.stored.book_parts import BookParts
from holdfast.model.ids import SessionId

LONG = 100_000

AT_MOST = 2.0
"""Seconds to be attached again on a machine that does much else; `bench/` has the
figure. Without a checkpoint it took fifteen."""

FLAT = 32 * 1024
"""KiB that a holder may have of its own, however long its book is."""


def tail(session: SessionId) -> list[bytes]:
    book = BookParts(places.session_log(session))
    length = book.length()
    raw = book.read(64 * 1024, max(book.last_start(), length - 64 * 1024))
    book.close()
    return raw.split(b"\n")


def memory(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def back_after(here: Machine, session: SessionId) -> float:
    client = here.join(session)
    here.kill("holder", session)
    began_at = time.monotonic()
    client.attach()
    return time.monotonic() - began_at


def test_a_holder_with_a_long_book_is_back_at_once_three_times_in_a_row() -> None:
    with machine() as here:
        session = here.new("cat")
        here.join(session).enter(b"first\r")
        lengthen(session, LONG)

        taken = [back_after(here, session) for _ in range(3)]

        assert max(taken) < AT_MOST, taken
        assert memory(here.pid("holder", session)) < FLAT
        here.join(session).enter(b"again\r")
        kinds = [line for line in tail(session) if b'"kind":"resumed"' in line]
        assert len(kinds) >= 3


def test_what_was_typed_before_a_long_book_is_not_typed_again() -> None:
    with machine() as here:
        session = here.new("cat")
        client = here.join(session)
        client.submit(b"once\r")
        [sent] = client.open()
        client.settle_through_cuts()
        lengthen(session, LONG)
        here.replace_holder(session)

        client.attach()
        client.send(sent)
        answer = client.settle()

        # It is known, or known to be forgotten: it is not new.
        assert getattr(answer, "code", "outcome-forgotten") == "outcome-forgotten"
        assert client.wait_output(b"once").count(b"once") == 2  # The echo, and cat.


@pytest.mark.parametrize("harm", ["lost", "torn", "other"])
def test_without_its_checkpoint_the_book_is_read_whole(harm: str) -> None:
    with machine() as here:
        session = here.new("cat")
        here.join(session).enter(b"first\r")
        lengthen(session, LONG)
        state = Path(state_path(os.fspath(places.session_log(session)), 0))
        raw = state.read_bytes()
        if harm == "lost":
            state.unlink()
        else:
            state.write_bytes(raw[:-9] if harm == "torn" else raw.replace(b"1", b"2"))

        here.join(session)
        here.kill("holder", session)
        here.join(session).enter(b"again\r")

        # Nobody need do so a second time.
        eventually(
            "another checkpoint",
            lambda: any(b'"kind":"checkpoint"' in line for line in tail(session)),
        )
        assert back_after(here, session) < AT_MOST


def test_a_long_book_is_no_reason_for_an_upgrade_to_fail() -> None:
    with machine() as here:
        session = here.new("cat")
        here.join(session).enter(b"first\r")
        lengthen(session, LONG)
        old = here.pid("holder", session)

        said = finish(start_upgrade(PRESENT))

        assert said["sessions"] == 1, said
        assert here.pid("holder", session) != old
        here.join(session).enter(b"again\r")
