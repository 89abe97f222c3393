"""Somebody stages something, somebody else runs into it: who is named?"""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell, wait_phase
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.client import blame_query, calls, current_operator
from holdfast.client.calls import graph
from holdfast.core.provenance.originators import COARSE_MS
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire import messages as wire
from holdfast.wire.blame import Behind, BlameReport
from holdfast.wire.presence import Inherited


@pytest.fixture(scope="module")
def ours() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def bash(ours: Machine, tmp_path: Path) -> SessionId:
    return shell(ours, tmp_path)


class TwoOperators:
    """Two operators of one shell: Ada stages, Bea runs."""

    def __init__(self, ours: Machine, session: SessionId) -> None:
        self.session = session
        self.ada = ours.join(session, f"ada-{session[2:10]}")
        self.bea = ours.join(session, f"bea-{session[2:10]}")

    def does(self, who: Client, line: str) -> int:
        """Have somebody enter a line, and let the turn go; return its number."""
        last = calls.report(self.session).command
        before = 0 if last is None else last.number
        wait_phase(self.session, "prompt")
        self.types(who, line.encode() + b"\r")

        def ended() -> int:
            found = calls.report(self.session)
            number = 0 if found.command is None else found.command.number
            return number if number > before and found.phase == "prompt" else 0

        number = eventually(f"the end of {line}", ended)
        # Of two commands that are closer to each other than the kernel dates a file,
        # both are named.
        apart = time.monotonic() + 2 * COARSE_MS / 1000
        eventually("the next is told apart", lambda: time.monotonic() > apart)
        self.drops(who)
        return number

    def types(self, who: Client, keys: bytes) -> None:
        who.who()  # It hears of the turn first.
        assert isinstance(who.enter(keys), wire.Acknowledge)

    def drops(self, who: Client) -> None:
        assert who.request(wire.Drop()) is None

    def asks(self, what: str, name: str = "") -> BlameReport:
        return calls.blame(self.session, what, name)


@pytest.fixture
def two(ours: Machine, bash: SessionId) -> TwoOperators:
    return TwoOperators(ours, bash)


def actor(client: Client) -> ActorId:
    return client.operator.actor.id


def behind(report: BlameReport) -> Behind:
    assert report.standing == "changed", report
    assert report.behind is not None
    return report.behind


def names(report: BlameReport, client: Client, number: int) -> bool:
    found = behind(report)
    return (found.trigger, found.authors, found.command, found.first) == (
        actor(client),
        (actor(client),),
        number,
        0,
    )


@pytest.mark.parametrize(
    ("what", "name", "staged", "run"),
    [
        ("variable", "EDITOR", "export EDITOR=/opt/evil", "true"),
        ("variable", "LD_PRELOAD", "export LD_PRELOAD=", "ls"),
        ("variable", "API_TOKEN", "API_TOKEN=hunter2", "true"),
        ("path-entry", "/opt/evil", "PATH=/opt/evil:$PATH", "ls"),
        ("alias", "deploy", "alias deploy='echo build'", "deploy"),
        ("function", "ls", "ls() { echo mine; }", "ls"),
        ("trap", "SIGUSR1", "trap 'echo x' USR1", "true"),
        ("trap", "EXIT", "trap 'echo bye' EXIT", "true"),
        ("option", "noclobber", "set -o noclobber", "true"),
    ],
)
def test_what_one_sets_and_another_runs_into_is_the_first_ones(
    two: TwoOperators, what: str, name: str, staged: str, run: str
) -> None:
    number = two.does(two.ada, staged)
    two.does(two.bea, run)

    report = two.asks(what, name)
    assert names(report, two.ada, number), report
    assert report.digest


def test_what_is_run_by_another_is_told_with_who_ran_it(
    two: TwoOperators,
) -> None:
    two.does(two.ada, "alias deploy='echo build'")
    two.does(two.bea, "deploy now")

    used = two.asks("alias", "deploy").used
    assert used is not None
    assert used.trigger == actor(two.bea)


def test_what_another_changes_again_is_the_last_ones(two: TwoOperators) -> None:
    two.does(two.ada, "x=1")
    number = two.does(two.bea, "x=2")

    assert names(two.asks("variable", "x"), two.bea, number)


def test_who_took_something_away_is_named_too(two: TwoOperators) -> None:
    two.does(two.ada, "alias gone=ls")
    number = two.does(two.bea, "unalias gone")

    report = two.asks("alias", "gone")
    assert names(report, two.bea, number)
    assert (report.how, report.digest) == ("removed", b"")


def test_what_the_shell_began_with_is_nobodys(two: TwoOperators) -> None:
    two.does(two.ada, "true")

    assert two.asks("variable", "HOME").standing == "initial"
    assert two.asks("alias", "never").standing == "absent"


def test_a_staged_line_is_told_byte_by_byte_and_is_its_typists(
    two: TwoOperators,
) -> None:
    two.types(two.ada, b"x=$((1+")
    two.drops(two.ada)
    two.types(two.bea, b"1))")

    line = two.asks("line")
    assert line.staged == b"x=$((1+1))"
    assert [(one.size, one.actor) for one in line.by] == [
        (7, actor(two.ada)),
        (3, actor(two.bea)),
    ]

    two.types(two.bea, b"\r")
    eventually("x is set", lambda: two.asks("variable", "x").behind)

    found = behind(two.asks("variable", "x"))
    assert found.trigger == actor(two.bea)
    assert found.authors == (actor(two.ada), actor(two.bea))


def test_a_line_from_the_history_that_another_recalled_is_both_of_theirs(
    two: TwoOperators,
) -> None:
    two.does(two.ada, "y=1")
    two.does(two.ada, "y=2")
    two.types(two.ada, b"\x10\x10")
    two.drops(two.ada)
    two.types(two.bea, b"\r")

    def ran() -> Behind | None:
        found = two.asks("variable", "y").behind
        return found if found is not None and found.command == 3 else None

    found = eventually("it ran", ran)
    assert found.trigger == actor(two.bea)
    assert actor(two.ada) in found.authors


def test_what_others_type_into_a_nested_shell_is_theirs_too(
    two: TwoOperators, tmp_path: Path
) -> None:
    two.types(two.ada, b"sh\r")
    wait_phase(two.session, "running")
    two.drops(two.ada)
    two.types(two.bea, f"echo x > {tmp_path}/inside; exit\r".encode())
    wait_phase(two.session, "prompt")

    (touched,) = blame_query.file(two.session, str(tmp_path / "inside"))
    found = behind(touched.report)
    assert found.trigger == actor(two.ada)
    assert actor(two.bea) in found.authors


@pytest.mark.parametrize("name", [".bashrc", "script.sh", "bin/program"])
def test_a_file_belongs_to_the_command_that_ran_when_it_was_changed(
    two: TwoOperators, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    staged = f"mkdir -p {path.parent}; echo 'echo hello' > {path}; chmod +x {path}"
    number = two.does(two.ada, staged)
    two.does(two.bea, f"sh {path}")

    (touched,) = blame_query.file(two.session, str(path))
    assert names(touched.report, two.ada, number), touched
    assert touched.fact.digest


def test_a_faked_date_names_whoever_faked_it(two: TwoOperators, tmp_path: Path) -> None:
    path = tmp_path / "script.sh"
    two.does(two.bea, f"echo hello > {path}")
    number = two.does(two.ada, f"touch -d 2001-01-01 {path}")

    (touched,) = blame_query.file(two.session, str(path))
    assert names(touched.report, two.ada, number)


def test_each_link_to_a_file_has_its_own_originator(
    two: TwoOperators, tmp_path: Path
) -> None:
    first = two.does(two.bea, f"echo hello > {tmp_path}/real")
    second = two.does(two.ada, f"ln -s real {tmp_path}/tool")

    link, real = blame_query.file(two.session, str(tmp_path / "tool"))
    assert names(link.report, two.ada, second)
    assert names(real.report, two.bea, first)


def test_a_file_from_outside_is_nobodys_here(two: TwoOperators, tmp_path: Path) -> None:
    two.does(two.ada, "true")
    path = tmp_path / "outside"

    def is_between() -> bool:
        path.write_text("x")
        (touched,) = blame_query.file(two.session, str(path))
        return touched.report.standing == "none"

    eventually("it is written between commands", is_between)


def background(two: TwoOperators) -> tuple[int, int]:
    """Have Ada leave something in the background; return its pid and number."""
    number = two.does(two.ada, "sleep 987 & disown")
    found = eventually(
        "the sleeper",
        lambda: [
            one.pid
            for one in graph(two.session).processes
            if one.command == "sleep 987"
        ],
    )
    return found[0], number


def test_a_process_belongs_to_the_command_that_started_it(
    ours: Machine, two: TwoOperators
) -> None:
    pid, number = background(two)
    two.does(two.bea, "sleep 0.1")

    seen = graph(two.session)
    leader = ours.pid("leader", two.session)
    (traced,) = blame_query.processes(two.session, leader, [pid], seen)
    assert names(traced.report, two.ada, number)
    assert (traced.root.pid, traced.root.is_by_time) == (pid, False)
    actors = {one.pid: one.actor for one in seen.processes}
    assert actors[pid] == actor(two.ada)
    assert actors[leader] == current_operator.ourselves().actor.id


def test_a_daemon_and_what_it_starts_are_known_by_time(
    ours: Machine, two: TwoOperators
) -> None:
    daemon = "setsid sh -c 'sleep 986 & sleep 985' >/dev/null 2>&1 & disown; sleep 0.2"
    number = two.does(two.ada, f"({daemon})")
    two.does(two.bea, "true")

    def found() -> list[int]:
        listed = graph(two.session).processes
        return [one.pid for one in listed if one.command == "sleep 986"]

    (pid,) = eventually("the daemon's child", found)
    leader = ours.pid("leader", two.session)
    seen = graph(two.session)
    (traced,) = blame_query.processes(two.session, leader, [pid], seen)
    assert traced.root.is_by_time
    assert names(traced.report, two.ada, number)


def test_a_program_that_takes_another_name_is_still_known(
    ours: Machine, two: TwoOperators
) -> None:
    number = two.does(two.ada, "(exec -a '[kworker/0:1]' sleep 984) & disown")

    def found() -> list[int]:
        listed = graph(two.session).processes
        return [one.pid for one in listed if one.command == "[kworker/0:1] 984"]

    (pid,) = eventually("the disguised one", found)
    leader = ours.pid("leader", two.session)
    seen = graph(two.session)
    (traced,) = blame_query.processes(two.session, leader, [pid], seen)
    assert names(traced.report, two.ada, number)


def test_whoever_takes_the_turn_is_told_who_started_what_runs(
    two: TwoOperators,
) -> None:
    pid, _ = background(two)
    two.types(two.ada, b"half a line")
    assert two.bea.request(wire.Seize(wire.Halt.NONE)) is None

    inherited = two.bea.wait(Inherited)
    assert {one.pid: one.actor for one in inherited.jobs}[pid] == actor(two.ada)
    assert inherited.by == (actor(two.ada),)


def test_a_successor_knows_what_its_predecessor_knew(
    ours: Machine, two: TwoOperators, tmp_path: Path
) -> None:
    alias = two.does(two.ada, "alias deploy='echo build'")
    file = two.does(two.bea, f"echo hello > {tmp_path}/f")
    pid, process = background(two)
    eventually("the prompt is seen", lambda: not two.asks("alias", "x").silent)
    ours.replace_holder(two.session)
    ours.wait_whole(two.session)

    assert names(two.asks("alias", "deploy"), two.ada, alias)
    assert two.asks("variable", "HOME").standing == "initial"
    (touched,) = blame_query.file(two.session, str(tmp_path / "f"))
    assert names(touched.report, two.bea, file)
    seen = graph(two.session)
    leader = ours.pid("leader", two.session)
    (traced,) = blame_query.processes(two.session, leader, [pid], seen)
    assert names(traced.report, two.ada, process)


def test_a_holder_killed_in_between_makes_nobody_up(
    ours: Machine, two: TwoOperators
) -> None:
    two.does(two.ada, "x=1")
    two.types(two.bea, b"sleep 0.5; x=2\r")
    wait_phase(two.session, "running")
    ours.kill("holder", two.session)
    ours.wait_whole(two.session)
    wait_phase(two.session, "prompt")

    def is_seen() -> Behind | None:
        found = two.asks("variable", "x")
        return found.behind if found.behind and found.behind.command == 2 else None

    found = eventually("x is seen again", is_seen)
    assert found.trigger in (actor(two.bea), "")


def test_a_shell_that_tells_nothing_any_more_is_said_to_be_silent(
    two: TwoOperators, tmp_path: Path
) -> None:
    two.types(two.ada, b"exec sh\r")
    eventually("it is silent", lambda: two.asks("alias", "later").silent)
    two.drops(two.ada)
    two.types(two.bea, f"alias later=ls; >{tmp_path}/f\r".encode())
    eventually("it did that", (tmp_path / "f").exists)

    report = two.asks("alias", "later")
    assert (report.standing, report.silent) == ("absent", True)
    (touched,) = blame_query.file(two.session, str(tmp_path / "f"))
    assert actor(two.bea) in behind(touched.report).authors
