import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.trees import SESSION, Leader, eventually, leader

from holdfast.linux.graph import Node, listeners, session_named_by
from holdfast.linux.graph import survey as survey_in_slices
from holdfast.linux.process_table import Belonging, Tree
from holdfast.linux.sockets import LISTENING

SERVER = """
import os, socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
child = os.fork()
if child == 0:
    time.sleep(99)
print(os.getpid(), child, s.getsockname()[1], flush=True)
time.sleep(99)
"""

HOLDER = """
import fcntl, os, sys, time
f = open(sys.argv[1], "w+")
f.write("hello")
f.flush()
fcntl.flock(f, fcntl.LOCK_EX)
g = open(sys.argv[1])
r, w = os.pipe()
print(f.fileno(), g.fileno(), r, w, flush=True)
time.sleep(99)
"""


REUSING = """
import os, signal, sys, time

def child():
    pid = os.fork()
    if pid == 0:
        time.sleep(99)
        os._exit(0)
    return pid

first = child()
print(os.getpid(), first, flush=True)
sys.stdin.readline()
os.kill(first, signal.SIGKILL)
os.wait()
time.sleep(0.05)  # Start times are told in hundredths of a second.
for _ in range(1000):
    try:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(first - 1))
    except OSError:
        break
    if (second := child()) == first:
        print(1, flush=True)
        time.sleep(99)
    os.kill(second, signal.SIGKILL)
    os.wait()
print(0, flush=True)
time.sleep(99)
"""


def survey(tree: Tree, *, descriptors: bool, limit: int = 1000) -> Iterator[Node]:
    found = survey_in_slices(Belonging(tree), descriptors=descriptors, limit=limit)
    return (one for one in found if one is not None)


def nodes(tree: Tree, *, descriptors: bool = False) -> dict[int, Node]:
    return {one.stat.pid: one for one in survey(tree, descriptors=descriptors)}


def ports(node: Node) -> list[int]:
    return [
        one.socket.local_port
        for one in node.opened
        if one.socket is not None and one.socket.standing == LISTENING
    ]


def with_file(path: Path) -> str:
    return f"import sys; sys.argv = ['', {str(path)!r}]\n{HOLDER}"


def kill(one: Leader, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    eventually("it is gone", lambda: pid not in nodes(one.tree))


def test_a_tree_has_parents_ports_and_ages() -> None:
    with leader(SERVER) as server:
        parent, child, port = server.pids()
        found = nodes(server.tree)

        assert list(found) == [parent, child]
        assert found[child].stat.parent == parent
        assert ports(found[parent]) == ports(found[child]) == [port]
        assert "socket" in found[parent].command
        assert 0 <= found[parent].age < 60
        assert found[parent].stat.rss > 0


def test_a21_what_listens_is_found_by_port_and_gone_when_it_is_killed() -> None:
    with leader(SERVER) as server:
        parent, child, port = server.pids()

        assert {one.pid for one in listeners(port)} == {parent, child}
        assert session_named_by(child) == SESSION
        kill(server, child)
        assert {one.pid for one in listeners(port)} == {parent}
        kill(server, parent)
        assert listeners(port) == []


def test_descriptors_have_offsets_access_and_locks(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with leader(with_file(path)) as holder:
        written, read, pipe_in, pipe_out = holder.pids()
        (node,) = nodes(holder.tree, descriptors=True).values()
        found = {one.number: one for one in node.opened}

        assert found[written][1:6] == ("file", str(path), 5, "both", "write")
        assert found[read][1:6] == ("file", str(path), 0, "read", "none")
        assert (found[pipe_in].kind, found[pipe_in].access) == ("pipe", "read")
        assert found[pipe_out].access == "write"
        assert node.left_out == 0


def test_g2_what_is_left_out_is_counted(tmp_path: Path) -> None:
    with leader(with_file(tmp_path / "kept")) as holder:
        holder.pids()
        (whole,) = nodes(holder.tree, descriptors=True).values()
        (short,) = survey(holder.tree, descriptors=True, limit=2)
        (bare,) = nodes(holder.tree).values()

        assert len(short.opened) == 2
        assert short.left_out == len(whole.opened) - 2
        assert bare.left_out == len(whole.opened)


def test_g1_a_number_that_went_to_another_process_is_not_the_session_s() -> None:
    with leader(SERVER) as server:
        server.pids()
        later = server.tree._replace(started=server.tree.started + 1, session="s_other")

        assert server.pid not in nodes(later)


def test_g1_a_number_that_changes_hands_while_it_is_looked_at_is_left_out() -> None:
    with leader(REUSING) as reusing:
        parent, child = reusing.pids()
        coming = survey(reusing.tree, descriptors=False)
        assert next(coming).stat.pid == parent
        reusing.input.write(b"go\n")
        reusing.input.flush()
        if reusing.pids() != [1]:
            pytest.skip("this machine does not give a number out again at will")

        assert [*coming] == []
        assert child in nodes(reusing.tree)


def test_a_process_that_ends_while_it_is_looked_at_is_left_out() -> None:
    with leader(SERVER) as server:
        parent, child, _ = server.pids()
        coming = survey(server.tree, descriptors=True)
        first = next(coming)
        os.kill(child, signal.SIGKILL)
        eventually("it is gone", lambda: child not in nodes(server.tree))

        assert first.stat.pid == parent
        assert [*coming] == []
