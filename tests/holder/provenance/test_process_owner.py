"""Who is behind the processes of a session, told by when they were started."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.terminals import Stage
from tests.scenarios.support import eventually

from holdfast.client import current_operator
from holdfast.core.book.inheritance import Restored
from holdfast.core.book.logbook import Entry, EntryKind, Logbook, genesis
from holdfast.core.session.session_state import Word
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.provenance import process_owner
from holdfast.holder.provenance.process_owner import ProcessOwners
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.procfs import read_stat
from holdfast.linux.pty import foreground
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import ActorId, Epoch, Incarnation, SessionId
from holdfast.model.session_record import HeldRecord, SessionRecord

SESSION = SessionId("s_" + "a" * 16)
CARL = ActorId("a_" + "c" * 32)
ANNA = ActorId("a_" + "a" * 32)
BOT = ActorId("a_" + "b" * 32)
DORA = ActorId("a_" + "d" * 32)
TICK = 0.011
"""Seconds after which the kernel dates a process otherwise."""


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage("bash", "--norc", "--noprofile", "-i")
    yield made
    made.close()


@pytest.fixture
def descriptors(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SessionDescriptors]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    record, held = SessionRecord(SESSION, pid=stage.pid), HeldRecord(creator=CARL)
    with socket.socket(socket.AF_UNIX) as listener:
        yield SessionDescriptors(record, held, stage.master, -1, listener, -1)


@pytest.fixture
def owner(descriptors: SessionDescriptors) -> ProcessOwners:
    return ProcessOwners(descriptors, AttachedClients())


def started(stage: Stage, line: bytes) -> int:
    """Run a command in the background; return its process."""
    before = children(stage.pid)
    stage.type(line + b" &\r")
    eventually("it has begun", lambda: children(stage.pid) - before)
    (pid,) = children(stage.pid) - before
    return pid


def children(pid: int) -> set[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return {int(word) for word in found.split()}


def names(actors: list[Actor]) -> set[ActorId]:
    return {one.id for one in actors}


def test_before_anybody_typed_it_is_who_began_the_session(
    stage: Stage, owner: ProcessOwners
) -> None:
    stage.becomes(Word.AT_PROMPT)

    assert names(owner.behind(stage.pid)) == {CARL}
    assert names(owner.behind(started(stage, b"sleep 600"))) == {CARL}
    assert names(owner.everybody()) == {CARL}


def test_what_a_shell_starts_is_of_who_had_its_ear_then(
    stage: Stage, owner: ProcessOwners
) -> None:
    stage.becomes(Word.AT_PROMPT)
    first = started(stage, b"sh -c 'sleep 600; true'")
    eventually("it has a child", lambda: children(first))
    stage.becomes(Word.AT_PROMPT)
    time.sleep(TICK)
    owner.types(ANNA)
    time.sleep(2 * TICK)
    second = started(stage, b"sleep 600")

    assert names(owner.everybody()) == {ANNA, CARL}
    assert names(owner.behind(first)) == {CARL}
    (grandchild,) = children(first)
    assert names(owner.behind(grandchild)) == {CARL}
    assert names(owner.behind(second)) == {ANNA}
    assert names(owner.behind(stage.pid)) == {ANNA}


def test_what_a_command_starts_later_is_of_who_started_the_command(
    stage: Stage, owner: ProcessOwners, tmp_path: Path
) -> None:
    word = tmp_path / "word"
    stage.becomes(Word.AT_PROMPT)
    wait = f"until [ -e {word} ]; do read -t 0.01 < /dev/zero; done"
    first = started(stage, f"bash -c '{wait}; sleep 600; true'".encode())
    stage.becomes(Word.AT_PROMPT)
    time.sleep(TICK)
    owner.types(ANNA)
    time.sleep(2 * TICK)
    word.touch()
    eventually("it has a child", lambda: children(first))

    (late,) = children(first)

    assert names(owner.behind(late)) == {CARL}


def test_who_types_while_something_else_runs_may_be_behind_it_or_not(
    stage: Stage, owner: ProcessOwners
) -> None:
    stage.becomes(Word.AT_PROMPT)
    stage.type(b"sleep 600\r")
    eventually("it runs", lambda: children(stage.pid))
    stage.becomes(Word.RUNNING)
    owner.types(ANNA)
    time.sleep(2 * TICK)
    os.kill(next(iter(children(stage.pid))), 15)
    stage.becomes(Word.AT_PROMPT)

    assert names(owner.behind(started(stage, b"sleep 600"))) == {ANNA, CARL}


def entries(*told: tuple[EntryKind, str, ActorId], ago_ms: int = 0) -> list[Entry]:
    book, found = Logbook(genesis(SESSION)), []
    at = time.time_ns() // 1_000_000 - ago_ms
    for kind, field, actor in told:
        entry = book.draft(kind, {field: actor}, Incarnation(1), Epoch(1), at)
        book.commit(entry)
        found.append(entry)
    return found


@pytest.mark.parametrize("is_told", [True, False])
def test_a_successor_learns_it_from_the_shell_s_word_or_from_who_typed(
    stage: Stage, owner: ProcessOwners, *, is_told: bool
) -> None:
    stage.becomes(Word.AT_PROMPT)
    typed = (EntryKind.INPUT, "actor", ANNA)
    began = (EntryKind.BEGAN, "trigger", BOT)
    owner.take_up(entries(typed, *([began] if is_told else [])))
    time.sleep(3 * TICK)

    later = names(owner.behind(started(stage, b"sleep 600")))

    assert later == ({BOT} if is_told else {ANNA, CARL})


def test_what_is_in_an_old_book_was_long_before_what_runs(
    stage: Stage, owner: ProcessOwners
) -> None:
    owner.take_up(entries((EntryKind.BEGAN, "trigger", BOT), ago_ms=60_000))
    stage.becomes(Word.AT_PROMPT)

    assert names(owner.behind(started(stage, b"sleep 600"))) == {BOT}


def test_who_has_not_been_here_is_known_if_the_host_knows_them(
    descriptors: SessionDescriptors,
) -> None:
    clients = AttachedClients()
    owner = ProcessOwners(descriptors, clients)
    bert = current_operator.enrol("bert", ActorKind.HUMAN).actor
    clients.meet(Actor(ANNA, ActorKind.HUMAN, "anna"))

    assert owner.actor(ANNA).name == "anna"
    assert owner.actor(bert.id) == bert
    assert owner.actor(BOT) == Actor(BOT, ActorKind.AGENT, "")
    assert owner.actor(ActorId("")).name == ""


def inner_shell(stage: Stage) -> int:
    stage.becomes(Word.AT_PROMPT)
    stage.type(b"sh -c 'bash --norc --noprofile -i; true'\r")
    eventually("it runs", lambda: children(stage.pid))
    (pid,) = children(stage.pid)
    eventually("it has the terminal", lambda: foreground(stage.master) not in (pid, 0))
    time.sleep(2 * TICK)
    return pid


def test_who_types_into_what_another_has_started_is_behind_all_of_it(
    stage: Stage, owner: ProcessOwners
) -> None:
    shell = inner_shell(stage)
    assert names(owner.behind(shell)) == {CARL}

    owner.types(ANNA)
    assert names(owner.behind(shell)) == {CARL}  # Who has the turn has typed nothing.
    for _ in range(2):
        owner.feeds(ANNA)

    (inside,) = children(shell)
    assert names(owner.behind(shell)) == names(owner.behind(inside)) == {ANNA, CARL}


def test_a_successor_asks_the_kernel_what_they_typed_into(
    stage: Stage, owner: ProcessOwners
) -> None:
    shell = inner_shell(stage)
    began = (EntryKind.BEGAN, "trigger", BOT)
    typed = (EntryKind.INPUT, "actor", ANNA)

    owner.take_up(entries(began, typed))

    # By its date it was started before all of that.
    assert names(owner.behind(shell)) >= {ANNA, CARL}


def test_a_successor_takes_those_who_typed_earlier_for_behind_what_is_older(
    stage: Stage, owner: ProcessOwners
) -> None:
    stage.becomes(Word.AT_PROMPT)
    older = started(stage, b"sleep 600")
    time.sleep(3 * TICK)

    owner.take_up(entries((EntryKind.BEGAN, "trigger", BOT)), [ANNA])

    assert names(owner.behind(older)) == {ANNA, CARL}


@pytest.mark.parametrize("is_heir", [False, True])
def test_anybody_may_be_behind_what_a_restore_has_made(
    stage: Stage, descriptors: SessionDescriptors, *, is_heir: bool
) -> None:
    """All of it was started at one moment, as the kernel sees it."""
    stage.becomes(Word.AT_PROMPT)
    owner = ProcessOwners(descriptors, AttachedClients())
    began = (EntryKind.BEGAN, "trigger", BOT)
    late = (EntryKind.BEGAN, "trigger", ANNA)
    restored = [(EntryKind.RECOVERED, "image", ActorId("1"))] if is_heir else []
    descriptors.restored = None if is_heir else Restored(1, 9, 4)

    owner.take_up(entries(began, late, *restored, ago_ms=60_000))

    job = started(stage, b"sleep 600")
    assert names(owner.behind(job)) == {ANNA, BOT, CARL}
    time.sleep(3 * TICK)
    owner.types(ANNA)  # The shell hears her alone.
    time.sleep(3 * TICK)
    assert names(owner.behind(started(stage, b"sleep 601"))) == {ANNA}


def test_more_than_is_kept_may_be_behind_everything(
    stage: Stage, owner: ProcessOwners, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.becomes(Word.AT_PROMPT)
    first = started(stage, b"sleep 600")
    os.kill(first, signal.SIGSTOP)
    eventually("it stands", lambda: state(first) == "T")
    time.sleep(3 * TICK)
    owner.types(ANNA)
    owner.feeds(ANNA)
    assert names(owner.behind(first)) == {ANNA, CARL}
    stage.becomes(Word.AT_PROMPT)
    second = started(stage, b"sleep 600")
    os.kill(second, signal.SIGSTOP)
    eventually("it stands", lambda: state(second) == "T")

    monkeypatch.setattr(process_owner, "MAX_FED", 1)
    owner.feeds(BOT)

    # Of the two, one was let go: its feeders are named for both.
    assert names(owner.behind(second)) >= {ANNA, BOT}


@pytest.mark.parametrize(("most", "is_named"), [(1, True), (2, False)])
def test_who_fed_what_is_let_go_is_named_for_everything_and_nobody_else_is(
    stage: Stage,
    owner: ProcessOwners,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    *,
    is_named: bool,
) -> None:
    stage.becomes(Word.AT_PROMPT)
    owner.types(ANNA)
    first = started(stage, b"sleep 600")
    os.kill(first, signal.SIGSTOP)
    eventually("it stands", lambda: state(first) == "T")
    owner.feeds(DORA)  # Who starts nothing herself.
    stage.becomes(Word.AT_PROMPT)
    second = started(stage, b"sleep 600")
    os.kill(second, signal.SIGSTOP)
    eventually("it stands", lambda: state(second) == "T")

    monkeypatch.setattr(process_owner, "MAX_FED", most)
    owner.feeds(BOT)

    assert DORA in names(owner.behind(first))
    assert (DORA in names(owner.behind(second))) == is_named


def state(pid: int) -> str:
    found = read_stat(pid)
    return "" if found is None else found.state
