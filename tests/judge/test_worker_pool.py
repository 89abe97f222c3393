import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest
from tests.judge.judge_world import Link, linked, running

from holdfast.judge.worker_pool import CROWDED, GONE, LATE, MAX_WAITING, NONSENSE
from holdfast.linux.judge_packets import Ask
from holdfast.model.verdicts import Verdict

LONG = 20.0


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[tuple[Path, Popen[bytes]]]:
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def link(judge: tuple[Path, Popen[bytes]]) -> Iterator[Link]:
    with linked(judge[0]) as made:
        yield made


@pytest.fixture
def other(judge: tuple[Path, Popen[bytes]]) -> Iterator[Link]:
    with linked(judge[0]) as made:
        yield made


def wait_until(holds: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < ends_at, "it never happened"
        time.sleep(0.01)


def hang(link: Link, folder: Path, ticket: int = 1, timeout: float = 1.75) -> Path:
    where = folder / f"hangs-{ticket}"
    link.send(Ask(ticket, {"where": str(where)}, ("hangs",), timeout=timeout))
    return where


def pids(where: Path) -> list[int]:
    wait_until(lambda: where.exists() and " " in where.read_text())
    return [int(pid) for pid in where.read_text().split()]


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0]
    except FileNotFoundError:
        return True
    return state == "Z"


def test_plug_ins_are_asked_and_deny_wins(link: Link) -> None:
    allowed = link.ask("abstains", "allows")
    asked = link.ask("allows", "asks")
    denied = link.ask("asks", "denies", "raises")

    assert allowed.judgement is not None
    assert (allowed.judgement.verdict, allowed.judgement.rule) == (
        Verdict.ALLOW,
        "plugin-allows",
    )
    assert asked.judgement is not None
    assert asked.judgement.rule == "plugin-asks/careful"
    assert asked.judgement.why == "who knows"
    assert denied.judgement is not None
    assert denied.judgement.verdict is Verdict.DENY


def test_nobody_asked_is_no_opinion(link: Link) -> None:
    answer = link.ask()

    assert (answer.judgement, answer.failed, answer.ticket) == (None, "", 7)


def test_a_plug_in_that_changes_its_question_changes_nobody_elses(link: Link) -> None:
    answer = link.ask("changes", "reads", "changes")

    assert answer.judgement is not None
    assert answer.judgement.verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("raises", "raised ValueError"),
        ("exits", "raised SystemExit"),
        ("dies", GONE),
        ("truthy", "no verdict from plugin-truthy"),
        ("yes", "no verdict from plugin-yes"),
        ("odd", "no verdict from plugin-odd"),
        ("nothing", "cannot be called"),
        ("missing", "AttributeError"),
        ("unheard-of", "of which there are 0"),
    ],
)
def test_whatever_else_a_plug_in_does_is_a_failure_and_no_harm_i1(
    link: Link, name: str, why: str
) -> None:
    assert why in link.ask("allows", name).failed
    assert link.ask("allows").judgement is not None


def test_a_plug_in_that_writes_everywhere_is_believed_nothing_i2(link: Link) -> None:
    answer = link.ask("scribbles")

    assert answer.failed.startswith((GONE, NONSENSE))
    assert link.ask("allows").judgement is not None


def test_a_plug_in_that_hangs_is_killed_with_all_it_started_i2(
    link: Link, tmp_path: Path
) -> None:
    where = hang(link, tmp_path, timeout=1.5)
    stuck = pids(where)
    answer = link.receive()

    assert (answer.ticket, answer.failed) == (1, f"{LATE} (plug-in hangs)")
    for pid in stuck:
        wait_until(lambda pid=pid: is_gone(pid))  # type: ignore[misc]


def test_what_hangs_holds_up_nobody_else(link: Link, tmp_path: Path) -> None:
    pids(hang(link, tmp_path))

    assert link.ask("allows", ticket=2).ticket == 2
    assert link.receive().failed.startswith(LATE)


def test_one_links_hanging_questions_leave_workers_to_others(
    other: Link, link: Link, tmp_path: Path
) -> None:
    for ticket in range(20):
        hang(link, tmp_path, ticket)

    assert other.ask("allows").judgement is not None
    assert all(link.receive().failed.startswith(LATE) for _ in range(20))


def test_a_flood_of_questions_is_refused_and_not_kept(link: Link) -> None:
    total = 2 * MAX_WAITING
    for ticket in range(total):
        link.send(Ask(ticket, {"where": "/nonexistent/x"}, ("abstains",)))
    answers = [link.receive() for _ in range(total)]

    assert sorted(answer.ticket for answer in answers) == list(range(total))
    reasons = {answer.failed.partition(" (")[0] for answer in answers}
    assert reasons <= {"", CROWDED, LATE}


def test_whoever_takes_no_answers_is_left_and_holds_up_nobody(
    link: Link, other: Link
) -> None:
    link.socket.setblocking(False)  # noqa: FBT003  # as the socket has it
    ends_at = time.monotonic() + LONG
    is_left = False
    while not is_left:
        assert time.monotonic() < ends_at, "it is never left"
        try:
            link.send(Ask(1, {}))
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:
            is_left = True

    assert other.ask(ticket=2).ticket == 2


def test_something_that_is_no_question_ends_the_link_only(
    other: Link, link: Link
) -> None:
    link.socket.send(b"{}")

    assert link.socket.recv(100) == b""
    assert other.ask("allows").judgement is not None


def test_whoever_leaves_early_leaves_nothing_behind(
    other: Link, link: Link, tmp_path: Path
) -> None:
    stuck = pids(hang(link, tmp_path))
    link.socket.close()

    for pid in stuck:
        wait_until(lambda pid=pid: is_gone(pid))  # type: ignore[misc]
    assert other.ask("allows").judgement is not None


def test_what_nobody_waits_for_keeps_no_worker_i2(
    other: Link, link: Link, tmp_path: Path
) -> None:
    earlier = pids(hang(other, tmp_path, ticket=1))
    later = pids(hang(link, tmp_path, ticket=2))
    link.socket.close()

    wait_until(lambda: is_gone(later[0]))

    # Were it the deadline that ended it, this one would have gone before.
    assert not is_gone(earlier[0])


def test_a_judge_that_is_killed_leaves_no_worker_that_hangs(
    judge: tuple[Path, Popen[bytes]], link: Link, tmp_path: Path
) -> None:
    worker, _ = stuck = pids(hang(link, tmp_path))
    judge[1].kill()

    wait_until(lambda: is_gone(worker))
    assert link.socket.recv(100) == b""
    os.kill(stuck[1], signal.SIGKILL)  # what a plug-in started is an orphan then


def test_a_judge_ends_when_told(judge: tuple[Path, Popen[bytes]], link: Link) -> None:
    link.ask("allows")
    judge[1].terminate()

    assert judge[1].wait(LONG) == 0
