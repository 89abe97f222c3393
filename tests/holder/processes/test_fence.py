import os
import subprocess
from collections.abc import Iterator

import pytest
from tests.holder.input_world import SESSION, World

from holdfast.core.book.logbook import EntryKind
from holdfast.core.relay.lease_term import EXPIRED, LeaseTerm
from holdfast.holder.moment import boottime
from holdfast.holder.processes.fence import Fence
from holdfast.holder.processes.freezer import Freezer
from holdfast.linux import cgroups
from holdfast.linux.cgroups import SessionCgroup
from holdfast.model.holder_orders import Lease
from holdfast.model.ids import FIRST_INCARNATION
from holdfast.model.inputs import InputKind
from holdfast.wire.messages import State

pytestmark = pytest.mark.skipif(
    cgroups.ground().folder is None, reason="a fence needs a cgroup"
)
LATER = 600.0


@pytest.fixture
def cgroup() -> Iterator[SessionCgroup]:
    folder = cgroups.ground().folder
    assert folder is not None
    made = SessionCgroup.below(folder, f"{SESSION}-{os.getpid()}")
    made.make()
    with subprocess.Popen(["sleep", "60"]) as process:  # noqa: S607  # whichever there is
        made.settle(process.pid)
        yield made
        process.kill()
        made.thaw()
    made.remove()


def fence_of(here: World, cgroup: SessionCgroup, expires: float) -> Fence:
    term = LeaseTerm(FIRST_INCARNATION, expires)
    here.intake._lease = term  # noqa: SLF001  # as `take_up` gives it one
    session = here.session
    freezer = Freezer(SESSION, here.descriptors.record.pid, str(cgroup.folder))
    return Fence(here.context, session.driver, session.writer, freezer, term)


def kinds(here: World) -> list[EntryKind]:
    return [entry.kind for entry in here.entries()]


def test_it_stands_still_at_its_expiry_without_any_word(
    here: World, cgroup: SessionCgroup
) -> None:
    client = here.join()
    fence = fence_of(here, cgroup, boottime() + 0.05)
    fence.begin()
    assert not fence.is_on

    assert here.context.poll.turn(10.0)

    assert fence.is_on
    assert cgroup.is_frozen()
    assert fence.why == EXPIRED
    assert State("fenced", FIRST_INCARNATION) in client.told()
    assert EntryKind.FENCED in kinds(here)
    client.submit(b"x", kind=InputKind.KEYS)
    assert here.typed() == b""


def test_output_is_not_let_out_by_a_loop_that_slept(
    here: World, cgroup: SessionCgroup
) -> None:
    fence = fence_of(here, cgroup, boottime() + LATER)
    fence.begin()
    assert fence.lets_out()

    fence._term.expires_at = boottime()  # noqa: SLF001  # nobody was told

    assert not fence.lets_out()
    assert cgroup.is_frozen()


def test_the_same_life_goes_on_when_it_is_granted_again(
    here: World, cgroup: SessionCgroup
) -> None:
    turned: list[bool] = []
    fence = fence_of(here, cgroup, boottime())
    assert cgroup.is_frozen(), "before anything else is done"
    fence.turned = turned.append
    fence.begin()

    fence.told(Lease(FIRST_INCARNATION, boottime() + LATER))

    assert turned == [True, False]
    assert fence.lets_out()
    assert fence.why == ""
    assert not cgroup.is_frozen()
    assert kinds(here)[-2:] == [EntryKind.FENCED, EntryKind.UNFENCED]
    assert here.descriptors.held.leased


def test_what_an_operator_froze_stays_frozen(
    here: World, cgroup: SessionCgroup
) -> None:
    fence = fence_of(here, cgroup, boottime())
    fence.begin()
    here.intake.is_frozen = True

    fence.told(Lease(FIRST_INCARNATION, boottime() + LATER))

    assert cgroup.is_frozen()


def test_what_the_keeper_froze_while_we_slept_goes_on(
    here: World, cgroup: SessionCgroup
) -> None:
    fence = fence_of(here, cgroup, boottime() + LATER)
    fence.begin()
    cgroup.freeze()

    fence.told(Lease(FIRST_INCARNATION, boottime() + LATER))

    assert not cgroup.is_frozen()
    assert kinds(here)[-2:] == [EntryKind.FENCED, EntryKind.UNFENCED]


def test_a_successor_does_not_say_again_what_was_said(
    here: World, cgroup: SessionCgroup
) -> None:
    here.descriptors.record = here.descriptors.record._replace(state="fenced")
    fence = fence_of(here, cgroup, boottime())

    fence.begin()

    assert fence.is_on
    assert EntryKind.FENCED not in kinds(here)


def test_another_life_elsewhere_is_for_good(here: World, cgroup: SessionCgroup) -> None:
    fence = fence_of(here, cgroup, boottime() + LATER)
    fence.begin()

    fence.told(Lease(FIRST_INCARNATION, 0.0, "incarnation 2 lives elsewhere", 2))
    fence.told(Lease(FIRST_INCARNATION, boottime() + LATER))

    assert fence.is_on
    assert fence.why == "incarnation 2 lives elsewhere"


def test_what_has_ended_is_fenced_no_more(here: World, cgroup: SessionCgroup) -> None:
    fence = fence_of(here, cgroup, boottime() + LATER)
    fence.begin()

    fence.end()
    fence.told(Lease(FIRST_INCARNATION, 0.0, "why"))

    assert fence.lets_out()
    assert not cgroup.is_frozen()
