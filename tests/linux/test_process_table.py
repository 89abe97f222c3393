import math
import os
import subprocess
import sys
from pathlib import Path

from tests.linux.trees import SESSION, leader

from holdfast.linux.process_table import (
    Belonging,
    Process,
    Tree,
    Walk,
    process_told,
    read_process,
    read_table,
    tracer_of,
)
from holdfast.model.session_record import CapsuleRecord

WAIT = "print(flush=True); input()"


def test_a_process_is_read_as_the_kernel_knows_it() -> None:
    own = read_process(os.getpid())

    assert own is not None
    assert (own.parent, own.group, own.session) == (
        os.getppid(),
        os.getpgrp(),
        os.getsid(0),
    )
    assert own.state == "R"
    assert read_table()[os.getpid()].mark == own.mark


def test_a_name_with_parentheses_and_blanks_deceives_nobody() -> None:
    rename = "open('/proc/self/comm', 'w').write(') Z 1 (x y)');" + WAIT
    with leader(rename) as session:
        session.output.readline()
        process = read_process(session.pid)

    assert process is not None
    assert (process.parent, process.session) == (os.getpid(), session.pid)


def test_nobody_is_nobody() -> None:
    assert read_process(2**22 + 1) is None
    assert tracer_of(2**22 + 1) == 0
    assert Tree.of(2**22 + 1, SESSION).started == -1


def test_a_later_process_with_the_leaders_number_does_not_belong() -> None:
    with leader(WAIT) as session:
        session.output.readline()
        earlier = session.tree._replace(started=session.tree.started - 1, session="s_b")

        assert Belonging(session.tree).find(read_table())
        assert not Belonging(earlier).find(read_table())


def test_a_walk_in_slices_finds_what_one_look_finds() -> None:
    with leader(WAIT) as session:
        session.output.readline()
        whole = Belonging(session.tree).find(read_table())
        walk, slices = Walk(Belonging(session.tree)), 0
        while (found := walk.go_on(-math.inf)) is None:
            slices += 1

        assert [one.pid for one in found] == [one.pid for one in whole] == [session.pid]
        assert slices > 1
        assert Walk(Belonging(session.tree)).go_on(math.inf) is not None


def test_our_own_kernel_session_is_spared_whatever_its_environment_says() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAIT],
        env={"HOLDFAST_SESSION": SESSION},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = Belonging(Tree(2**22 + 1, -1, SESSION)).find(read_table())
        process.kill()

    assert process.pid not in {one.pid for one in found}


def test_a_session_whose_name_only_begins_alike_is_another() -> None:
    with leader(WAIT) as session:
        session.output.readline()
        found = Belonging(Tree(2**22 + 1, -1, SESSION[:-1])).find(read_table())

    assert session.pid not in {one.pid for one in found}


def test_we_and_our_ancestors_never_belong() -> None:
    tree = Tree.of(os.getppid(), SESSION)
    found = {one.pid for one in Belonging(tree).find(read_table())}

    assert not {os.getpid(), os.getppid()} & found


def test_who_is_gone_is_remembered_no_longer() -> None:
    belonging, table = Belonging(Tree(2**22 + 1, -1, SESSION)), read_table()
    few = dict(list(table.items())[:2])
    some = next(iter(few.values()))
    gone = [some._replace(pid=2**22 + 2 + one) for one in range(5)]
    belonging.find(few | {one.pid: one for one in gone})

    belonging.find(few)

    assert belonging._judged.keys() <= {one.mark for one in few.values()}  # noqa: SLF001  # what it keeps


def capsuled(first: int) -> CapsuleRecord:
    return CapsuleRecord(first, Path(f"/proc/{first}/ns/pid").stat().st_ino)


def test_what_is_in_a_capsule_s_pid_namespace_belongs_to_it() -> None:
    with leader(WAIT) as session:
        session.output.readline()
        # Not in a namespace of its own, but named by one all the same.
        tree = Tree.of(-1, "s_other", capsuled(session.pid))
        found = {one.pid for one in Belonging(tree).find(read_table())}

    assert session.pid not in found  # It is pid 1.
    assert not {os.getpid(), os.getppid()} & found
    assert found


def test_nothing_belongs_to_a_capsule_whose_pid_1_is_gone() -> None:
    with leader(WAIT) as session:
        session.output.readline()
        capsule = capsuled(session.pid)
        tree = Tree.of(-1, SESSION, capsule)
    later = Tree.of(-1, SESSION, capsule)

    assert Belonging(tree).find(read_table()) == []
    assert Belonging(later).find(read_table()) == []


def test_a_number_that_has_passed_to_another_namespace_is_no_capsule() -> None:
    with leader(WAIT) as session:
        session.output.readline()
        tree = Tree.of(-1, SESSION, capsuled(session.pid)._replace(space=1))

        assert Belonging(tree).find(read_table()) == []


def test_our_own_processes_in_a_capsule_are_known_by_their_age_too() -> None:
    with leader(WAIT) as session:
        session.output.readline()
        tree = Tree.of(-1, SESSION, capsuled(session.pid)._replace(init=5, parent=6))
        ours = Process(5, tree.first, 0, 0, 0, "S", 1)

        assert tree.is_machinery(ours)
        assert tree.is_machinery(ours._replace(pid=6))
        assert not tree.is_machinery(ours._replace(pid=7))
        assert not tree.is_machinery(ours._replace(started=tree.first + 101))
    assert not Tree(1, 1, SESSION).is_machinery(ours)
    assert not Tree(1, 1, SESSION).has_capsule({})


def test_a_thread_of_the_kernel_is_no_process() -> None:
    told = "{} (a) b) S 2 0 0 0 -1 {} 0 0 0 0 0 0 0 0 20 0 3 0 17 0 0"

    assert process_told(9, told.format(9, 0x208040).encode()) is None
    found = process_told(9, told.format(9, 0x400040).encode())
    assert found == Process(9, 17, 2, 0, 0, "S", 3)
    assert process_told(9, b"") is None
