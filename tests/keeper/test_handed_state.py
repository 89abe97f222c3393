import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from holdfast.keeper import handed_state

STATE = handed_state.State(
    version="1",
    started_at=1.5,
    lock=10,
    listener=11,
    painter=12,
    painter_pid=0,
    nursery=13,
    nursery_pid=99,
    nursery_version="1",
    asker=20,
    sessions=[
        handed_state.Kept("s_1", {"name": "one"}, [14, 15, 16, 17], None, held=True)
    ],
    links=[(18, "s_1"), (20, None)],
    waiting={"token": 20},
    judge=19,
    judge_pid=98,
    nursery_waits=True,
)


@pytest.fixture
def memory() -> Iterator[int]:
    made = handed_state.write(STATE)
    yield made
    os.close(made)


def rewritten(memory: int, **changes: object) -> None:
    found = json.loads(os.pread(memory, 1 << 20, 0))
    found = {name: one for name, one in (found | changes).items() if one is not None}
    os.ftruncate(memory, 0)
    os.pwrite(memory, json.dumps(found).encode(), 0)


def test_what_is_written_is_read(memory: int) -> None:
    assert handed_state.read(memory) == STATE


def test_every_descriptor_is_named_that_must_survive() -> None:
    assert sorted(STATE.fds()) == [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]


def test_an_older_writer_knew_no_judge(memory: int) -> None:
    rewritten(memory, judge=None, judge_pid=None)

    left = handed_state.read(memory)

    assert (left.judge, left.judge_pid) == (None, 0)
    assert 19 not in left.fds()


def test_what_a_newer_writer_added_is_ignored(memory: int) -> None:
    rewritten(memory, something_new=1)

    assert handed_state.read(memory) == STATE


@pytest.mark.parametrize(
    "change", [{"format": 99}, {"sessions": None}, {"lock": None}, {"sessions": [{}]}]
)
def test_what_is_of_another_layout_is_refused(
    memory: int, change: dict[str, object]
) -> None:
    rewritten(memory, **change)

    with pytest.raises(ValueError, match="state"):
        handed_state.read(memory)


@pytest.mark.parametrize(("damage", "status"), [(b"", 0), (b"x", 1)])
def test_a_child_can_try_whether_a_state_can_be_read(
    memory: int, damage: bytes, status: int
) -> None:
    os.pwrite(memory, damage, 0)
    command = [sys.executable, "-m", "holdfast.keeper", "--check", str(memory)]

    done = subprocess.run(command, pass_fds=[memory], check=False, capture_output=True)

    assert done.returncode == status


def test_descriptors_are_handed_on_and_withheld(memory: int) -> None:
    handed_state.hand_on(memory)
    assert os.get_inheritable(memory)

    handed_state.withhold(memory)
    assert not os.get_inheritable(memory)
