import math
import os
import subprocess
import sys

from tests.linux.trees import SESSION, leader

from holdfast.linux.process_table import (
    Belonging,
    Tree,
    Walk,
    read_process,
    read_table,
    tracer_of,
)

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
