import socket
from dataclasses import dataclass, field

import pytest
from tests.core.shell_world import ANNA, BOT, CARL, Shell

from holdfast.core.provenance.lineage import Kin
from holdfast.core.provenance.originators import Origins
from holdfast.holder.provenance.process_starters import ProcessStarters
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux.procfs import TICKS
from holdfast.model.ids import SessionId
from holdfast.model.session_record import HeldRecord, SessionRecord

LEADER = Kin(10, 1, 0)


@dataclass
class Followed:
    """What ShellCommands says of a shell."""

    origins: Origins = field(default_factory=Origins)
    is_marked: bool = True
    is_silent: bool = False


def started(second: float) -> int:
    return round(second * TICKS)


@pytest.fixture
def vaulted() -> Vaulted:
    record = SessionRecord(SessionId("s_x"), pid=LEADER.pid)
    with socket.socket() as listener:
        return Vaulted(record, HeldRecord(creator=CARL), -1, -1, listener, -1)


@pytest.fixture
def shell() -> Shell:
    made = Shell()
    made.run(BOT)
    made.run(ANNA)
    return made


def test_a_process_is_whose_command_started_its_root(
    vaulted: Vaulted, shell: Shell
) -> None:
    actors = ProcessStarters(vaulted, Followed(shell.origins)).actors(
        [
            LEADER,
            Kin(11, 10, started(5)),
            Kin(12, 10, started(12)),
            Kin(13, 12, started(22)),
            Kin(14, 10, started(22)),
            Kin(15, 10, started(17)),
            Kin(16, 1, started(12)),
        ]
    )

    assert actors == {10: CARL, 11: CARL, 12: BOT, 13: BOT, 14: ANNA, 15: "", 16: BOT}


def test_without_marks_only_the_leaders_starter_is_known(vaulted: Vaulted) -> None:
    starting = ProcessStarters(vaulted, Followed(is_marked=False))

    assert starting.actors([LEADER, Kin(11, 10, 5)]) == {10: CARL, 11: ""}
