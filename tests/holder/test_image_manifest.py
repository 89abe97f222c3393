import os
import pty
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from holdfast.core.capsule.manifest import (
    check_machine,
    check_mapped,
    read_manifest,
    sign_manifest,
)
from holdfast.core.capsule.preflight import Cut
from holdfast.crypto.keys import SigningKey
from holdfast.holder.image_manifest import Facts, machine_of, manifest_of
from holdfast.linux.criu.program import Program
from holdfast.linux.image_facts import mapped_files
from holdfast.linux.process_table import read_process
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_record import CapsuleRecord, Cells, SessionRecord
from holdfast.wire.image_manifest import ImageFile, ShellChannel, Starter

KEY = SigningKey.from_seed(b"k" * 32)
CRIU = Program(("criu",), (4, 2, 1))
RECORD = SessionRecord(
    SessionId("s_" + "a" * 16), "web", 7, "running", size=Cells(80, 24), incarnation=3
)
CAPSULE = CapsuleRecord(
    first=9, inner_init=2, inner_leader=4, terminal="tty[8800:1b]", rootless=True
)
SAID = {"index": 41, "hash": (b"h" * 32).hex()}


@pytest.fixture(name="facts")
def some_facts() -> Iterator[Facts]:
    master, slave = pty.openpty()
    us = read_process(os.getpid())
    assert us is not None
    cuts = (Cut(4, "c" * 300, 5, "p" * 300),) * 2000
    yield Facts(
        RECORD,
        CAPSULE,
        master,
        label="one",
        once=True,
        program=CRIU,
        members={2: us, 4: us},
        stopped=(4,),
        cuts=cuts,
    )
    os.close(master)
    os.close(slave)


def test_what_is_known_of_a_session_makes_a_manifest_that_can_be_read(
    facts: Facts,
) -> None:
    files = (ImageFile("window.bin", 1, b"d" * 32),)
    made = replace(manifest_of(facts, SAID), files=files)

    found = read_manifest(sign_manifest(made, KEY), KEY.public)

    assert (found.incarnation, found.log_index, found.once) == (3, 41, True)
    assert (found.capsule.root_pid, found.capsule.leader_pid) == (2, 4)
    assert found.capsule.rootless
    assert found.stopped == (4,)
    assert found.machine.criu == 40201


def test_here_and_now_it_fits(facts: Facts) -> None:
    made = manifest_of(facts, SAID)

    check_machine(made.machine, machine_of(CRIU))
    check_mapped(made, mapped_files([one.path for one in made.mapped]))
    assert made.mapped


def test_the_shell_and_who_started_what_are_in_it(facts: Facts) -> None:
    us = facts.members[4]
    facts = facts._replace(members={2: us._replace(pid=1), 4: us})
    anna = "a_" + "b" * 32
    more = {"phase": "prompt", "command": 7, "hands": [anna], "actors": [anna]}

    made = manifest_of(facts, {**SAID, **more, "starters": [[us.pid, 0]]})

    assert made.shell == ShellChannel(b"", b"", "prompt", 7, (ActorId(anna),))
    assert made.starters == (Starter(4, ActorId(anna)),)


def test_a_phase_that_is_not_known_is_none(facts: Facts) -> None:
    made = manifest_of(facts, {**SAID, "phase": "elsewhere"})

    assert made.shell == ShellChannel(b"", b"", "unmarked", 0, ())
