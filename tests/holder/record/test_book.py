"""What is written into a book, and when the disk, the host's key and clients hear."""

import math
import tty
from collections.abc import Iterator

import pytest
from tests.holder.input_world import SESSION, World, world

from holdfast.core.book.logbook import EntryKind
from holdfast.core.book.signed_head import SignedHead
from holdfast.core.input import serializer
from holdfast.holder.moment import now
from holdfast.holder.record.book import SYNC_PATIENCE
from holdfast.linux.stored import places
from holdfast.model.ids import Index
from holdfast.wire import messages as wire


@pytest.fixture
def here(own_folders: None) -> Iterator[World]:
    del own_folders
    with world() as made:
        tty.setraw(made.slave)
        made.session.settle()
        made.turn(100)
        yield made


def due(here: World) -> float:
    here.context.timers.refresh()
    return here.context.timers.first


def test_what_nobody_waits_for_is_vouched_for_all_the_same(here: World) -> None:
    before = now().now
    here.session.driver.record(EntryKind.FROZEN, {"by": ""})

    assert before + SYNC_PATIENCE <= due(here) <= now().now + SYNC_PATIENCE
    assert not here.session.book.is_behind
    here.turn(1)
    here.turn(100)
    raw = places.session_head(SESSION).read_bytes().strip()
    assert SignedHead.from_line(raw).receipt.head.index == here.entries()[-1].index


def test_the_disk_is_put_off_for_a_moment_and_no_longer(here: World) -> None:
    book = here.session.book
    at = now()
    book.want(serializer.Sync(Index(0)), at)

    assert book.is_behind
    assert due(here) <= at.now + SYNC_PATIENCE
    assert here.context.timers.when_idle is not None
    here.turn(1)
    assert not book.is_behind
    assert here.context.timers.when_idle is None
    assert book._timer.due == math.inf  # noqa: SLF001


def test_what_was_typed_is_shown_before_the_disk_hears_of_it(here: World) -> None:
    book = here.session.book
    book.awaits_echo = True
    book.want(serializer.Sync(Index(0)), now())

    assert here.context.timers.when_idle is None
    book.echoed()
    assert not book.awaits_echo
    assert here.context.timers.when_idle is not None
    here.context.timers.idle()
    assert not book.is_behind
    book.echoed()
    assert here.context.timers.when_idle is None


def test_of_two_inputs_both_are_acknowledged_when_the_second_is_durable(
    here: World,
) -> None:
    anna = here.join()
    anna.told()
    for _ in range(2):
        anna.submit(b"x")
        here.session.writer.echoed()
    assert not [one for one in anna.told() if isinstance(one, wire.Acknowledge)]
    here.session.book.sync()
    here.session.settle()

    told = [one for one in anna.told() if isinstance(one, wire.Acknowledge)]
    assert [one.sequence for one in told] == [1, 2]
    inputs = [one for one in here.entries() if one.kind is EntryKind.INPUT]
    assert [one.index for one in told] == [one.index for one in inputs]
