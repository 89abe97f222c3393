import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.trees import eventually

from holdfast.linux import pty, spawn
from holdfast.linux.cgroup_fork import fork_into
from holdfast.linux.cgroups import SessionCgroup, ground
from holdfast.model.geometry import Size


@pytest.fixture
def cgroup() -> Iterator[str]:
    place = ground()
    if place.folder is None:
        pytest.skip(place.why_not)
    made = SessionCgroup.below(place.folder, f"forking-{os.getpid()}")
    made.make()
    yield os.fspath(made.folder)

    def is_gone() -> bool:
        made.remove()
        return not made.folder.exists()

    eventually("it is empty", is_gone)


def _own_cgroup() -> str:
    return Path("/proc/self/cgroup").read_text().splitlines()[-1].rpartition("/")[2]


def test_a_child_is_in_its_cgroup_from_the_beginning_and_we_are_not(
    cgroup: str,
) -> None:
    reader, writer = os.pipe()
    ours = _own_cgroup()

    pid = fork_into(cgroup)
    if pid == 0:
        os.write(writer, _own_cgroup().encode())
        os._exit(7)
    _, status = os.waitpid(pid, 0)

    assert os.read(reader, 1000).decode() == Path(cgroup).name
    assert os.waitstatus_to_exitcode(status) == 7
    assert _own_cgroup() == ours
    os.close(reader)
    os.close(writer)


def test_a_child_is_made_as_python_makes_one(cgroup: str) -> None:
    reader, writer = os.pipe()
    random.seed(1)
    coming = random.Random(1).random()  # noqa: S311  # no secret

    pid = fork_into(cgroup)
    if pid == 0:
        # Chance is drawn anew in a child only by what is called after a fork.
        os.write(writer, b"same" if random.random() == coming else b"fresh")  # noqa: S311
        os._exit(0)
    os.waitpid(pid, 0)

    assert os.read(reader, 10) == b"fresh"
    os.close(reader)
    os.close(writer)


def test_what_is_no_cgroup_is_refused_and_no_child_is_made(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    # Another test may have left one that has not been waited for.
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    others = set(children.read_text().split())

    with pytest.raises(OSError, match=r"."):
        fork_into(str(tmp_path))

    assert set(children.read_text().split()) <= others
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("place", ["is-none", "is-gone"])
def test_a_leader_starts_also_where_its_cgroup_cannot_be_had(
    place: str, tmp_path: Path
) -> None:
    (tmp_path / "is-none").mkdir()
    master, slave = pty.open_pty(Size(80, 24))
    leader = spawn.Leader(("/bin/true",), "/", {}, str(tmp_path / place))

    pid = spawn.start_leader(leader, slave)

    assert os.waitpid(pid, 0) == (pid, 0)
    os.close(master)
    os.close(slave)


def test_a_leader_starts_in_its_cgroup(cgroup: str) -> None:
    master, slave = pty.open_pty(Size(80, 24))
    leader = spawn.Leader(("/bin/sleep", "60"), "/", {}, cgroup)

    pid = spawn.start_leader(leader, slave)

    assert Path(cgroup, "cgroup.procs").read_text().split() == [str(pid)]
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(master)
    os.close(slave)
