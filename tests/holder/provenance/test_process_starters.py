import socket
from dataclasses import dataclass, field

import pytest
from tests.core.shell_world import ANNA, BOT, CARL, Shell

from holdfast.core.provenance.lineage import ProcessStart
from holdfast.core.provenance.originators import Origins
from holdfast.holder.provenance.process_starters import (
    ProcessStarters,
    written_starters,
)
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.procfs import TICKS
from holdfast.model.ids import SessionId
from holdfast.model.session_record import HeldRecord, SessionRecord

LEADER = ProcessStart(10, 1, 0)


@dataclass
class Followed:
    """What ShellCommands says of a shell."""

    origins: Origins = field(default_factory=Origins)
    is_marked: bool = True
    is_silent: bool = False


def started(second: float) -> int:
    return round(second * TICKS)


@pytest.fixture
def descriptors() -> SessionDescriptors:
    record = SessionRecord(SessionId("s_x"), pid=LEADER.pid)
    with socket.socket() as listener:
        return SessionDescriptors(
            record, HeldRecord(creator=CARL), -1, -1, listener, -1
        )


@pytest.fixture
def shell() -> Shell:
    made = Shell()
    made.run(BOT)
    made.run(ANNA)
    return made


def test_a_process_is_whose_command_started_its_root(
    descriptors: SessionDescriptors, shell: Shell
) -> None:
    actors = ProcessStarters(descriptors, Followed(shell.origins)).actors(
        [
            LEADER,
            ProcessStart(11, 10, started(5)),
            ProcessStart(12, 10, started(12)),
            ProcessStart(13, 12, started(22)),
            ProcessStart(14, 10, started(22)),
            ProcessStart(15, 10, started(17)),
            ProcessStart(16, 1, started(12)),
        ]
    )

    assert actors == {10: CARL, 11: CARL, 12: BOT, 13: BOT, 14: ANNA, 15: "", 16: BOT}


def test_without_marks_only_the_leaders_starter_is_known(
    descriptors: SessionDescriptors,
) -> None:
    starting = ProcessStarters(descriptors, Followed(is_marked=False))

    assert starting.actors([LEADER, ProcessStart(11, 10, 5)]) == {10: CARL, 11: ""}


def test_what_was_restored_belongs_to_who_started_it_before(
    descriptors: SessionDescriptors, shell: Shell
) -> None:
    later = started(1000)
    restored = [
        ProcessStart(10, 1, later),
        ProcessStart(11, 10, later),
        ProcessStart(12, 11, later),
        ProcessStart(13, 10, later),
    ]
    actors = {11: ANNA, 12: ANNA, 13: BOT}
    written = written_starters(restored, LEADER.pid, actors)
    descriptors.held = descriptors.held._replace(starters=written)

    found = ProcessStarters(descriptors, Followed(shell.origins)).actors(
        [*restored, ProcessStart(14, 10, later + 1)]
    )

    assert found == {10: CARL, 11: ANNA, 12: ANNA, 13: BOT, 14: ""}
    assert len(written) == 2, "what is below follows"


def test_a_number_that_is_given_again_is_another_process(
    descriptors: SessionDescriptors, shell: Shell
) -> None:
    descriptors.held = descriptors.held._replace(starters=(f"11 5 {ANNA}",))

    found = ProcessStarters(descriptors, Followed(shell.origins)).actors(
        [LEADER, ProcessStart(11, 10, started(1000))]
    )

    assert found[11] == ""
