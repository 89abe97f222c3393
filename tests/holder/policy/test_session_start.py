"""Whether a session's command begins: a real leader that waits for the word."""

import itertools
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.support import eventually

from holdfast.client import current_operator
from holdfast.core.input.serializer import Answer
from holdfast.core.policy.policy_file import read_policy
from holdfast.holder.policy import refused_starts, start_question
from holdfast.holder.policy.session_start import CHANGED, ROOM, SessionStart
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import packets, pty, spawn
from holdfast.linux.exec_words import Wanted, wanted_by
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import (
    CannotStart,
    DeniedByPolicy,
    NotAllowed,
    RequestTooLarge,
    TurnMoved,
)
from holdfast.model.geometry import Size
from holdfast.model.ids import ENTROPY, Epoch, Index, SessionId, actor_id, client_id
from holdfast.model.inputs import InputId, InputKind
from holdfast.model.outcomes import Applied, Dropped, Outcome, Refused, Unknown
from holdfast.model.resolutions import Sort
from holdfast.model.session_record import HeldRecord, HeldStart, SessionRecord
from holdfast.model.verdicts import Verdict

SESSION = SessionId("s_" + "a" * 16)
CLIENT = client_id(b"c" * ENTROPY)
STRANGER = actor_id(b"stranger")
EPOCH, INDEX = Epoch(3), Index(1)
APPLIED, DROPPED = Applied(INDEX), Dropped(INDEX)


@dataclass
class Waits:
    """A session whose command waits, and where that leaves its mark."""

    descriptors: SessionDescriptors
    start: SessionStart
    program: Path
    mark: Path
    creator: Actor

    @property
    def pid(self) -> int:
        return self.descriptors.record.pid

    def answer(self, outcome: Outcome) -> None:
        """Say what became of the start, as the intake does."""
        given = self.start.given
        assert given is not None
        self.start.answered(Answer(given.actor, given.id, outcome))

    def judged(self) -> None:
        """Have the question asked, as it is before anything is decided."""
        given = self.start.given
        assert given is not None
        self.start.question.question(self.creator, given, EPOCH)

    def ends(self) -> int:
        """Return the leader's exit status."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Waits]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    creator = current_operator.ourselves().actor
    program, mark = tmp_path / "program", tmp_path / "mark"
    program.write_text(f"#!/bin/sh\necho ran > {mark}\nexit 5\n")
    program.chmod(0o700)
    master, slave = pty.open_pty(Size(80, 24))
    command = (str(program), "word")
    leader = spawn.Leader(command, str(tmp_path), {"PATH": os.environ["PATH"]})
    held = spawn.hold_leader(leader, slave)
    record = SessionRecord(
        SESSION, "build", held.pid, cwd=str(tmp_path), command=command
    )
    begins = HeldStart(CLIENT, "program word", held.program, ("X=1",))
    kept = HeldRecord(creator=creator.id, start=begins)
    with socket.socket(socket.AF_UNIX) as listener:
        descriptors = SessionDescriptors(
            record, kept, master, -1, listener, -1, start=[held.word, held.report]
        )
        yield Waits(descriptors, SessionStart(descriptors), program, mark, creator)
    for fd in (*descriptors.start, master, slave):
        os.close(fd)


def test_a_command_waits_as_an_input_of_its_creator(waits: Waits) -> None:
    given = waits.start.given

    assert given is not None
    assert (given.actor, given.kind) == (waits.creator.id, InputKind.START)
    assert given.id == InputId(CLIENT, 1)
    assert given.payload == b"program word"
    assert waits.start.is_held
    assert not waits.mark.exists()
    waits.answer(Refused(NotAllowed(waits.creator.id, "create")))
    assert waits.ends() != 5


@pytest.mark.parametrize("outcome", [APPLIED, Unknown(INDEX)])
def test_what_is_applied_begins(waits: Waits, outcome: Outcome) -> None:
    fds = [*waits.descriptors.start]
    waits.judged()

    waits.answer(outcome)

    assert waits.ends() == 5
    assert waits.mark.read_text() == "ran\n"
    assert waits.start.refusal is None
    assert (waits.start.is_held, waits.start.given) == (False, None)
    assert waits.descriptors.start == []
    assert waits.descriptors.held.start is None
    for fd in fds:
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(fd)


def test_what_is_refused_does_not_and_is_counted(
    waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refused_starts, "LIMIT", 1)
    refused_starts.demand_patience(waits.creator)
    error = NotAllowed(waits.creator.id, "create")

    waits.answer(Refused(error))

    assert waits.ends() != 5
    assert not waits.mark.exists()
    assert waits.start.refusal is error
    assert not waits.start.is_held
    with pytest.raises(Exception, match="refused"):
        refused_starts.demand_patience(waits.creator)


def test_what_is_dropped_does_not_either(waits: Waits) -> None:
    waits.answer(DROPPED)

    assert waits.ends() != 5
    assert isinstance(waits.start.refusal, TurnMoved)


def test_the_answer_to_something_else_says_nothing(waits: Waits) -> None:
    given = waits.start.given
    assert given is not None
    other = InputId(given.id.client, 2)

    waits.start.answered(Answer(given.actor, other, APPLIED))
    waits.start.answered(Answer(STRANGER, given.id, APPLIED))

    assert waits.start.is_held
    assert not spawn.has_begun(waits.descriptors.start[1])
    waits.answer(DROPPED)
    waits.start.answered(Answer(given.actor, given.id, APPLIED))
    assert waits.ends() != 5  # What was answered once is not told again.


def test_a_program_that_was_changed_after_it_was_judged_does_not_begin(
    waits: Waits,
) -> None:
    waits.judged()
    waits.program.write_text("#!/bin/sh\nexit 5\n")

    waits.answer(APPLIED)

    assert waits.ends() != 5
    assert isinstance(waits.start.refusal, DeniedByPolicy)
    assert waits.start.refusal.facts["rule"] == CHANGED


def test_a_program_that_changes_at_every_look_does_not_begin(
    waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As often as it is looked: it is the same whenever the looking ends.
    links = itertools.cycle(("true", "false", "true", "false", "echo"))

    def and_changed(*asked: Any) -> Wanted:  # noqa: ANN401  # as it is asked
        found = wanted_by(*asked)
        waits.program.unlink()
        waits.program.symlink_to(f"/bin/{next(links)}")
        return found

    monkeypatch.setattr(start_question, "wanted_by", and_changed)
    waits.judged()

    waits.answer(APPLIED)

    assert isinstance(waits.start.refusal, DeniedByPolicy)
    assert waits.start.refusal.facts["rule"] == CHANGED
    assert waits.ends() not in (0, 1)  # None of them has run.


def test_what_cannot_be_executed_says_why(waits: Waits) -> None:
    waits.program.unlink()

    waits.answer(APPLIED)

    waits.ends()
    assert isinstance(waits.start.refusal, CannotStart)
    assert waits.start.refusal.facts["command"] == str(waits.program)


def test_a_successor_finds_that_it_has_begun(waits: Waits) -> None:
    spawn.say(waits.descriptors.start[0], spawn.GO)
    eventually("it has begun", lambda: spawn.has_begun(waits.descriptors.start[1]))

    successor = SessionStart(waits.descriptors)

    assert (successor.is_held, successor.given) == (False, None)
    successor.go()  # There is nobody to be told.
    assert successor.refusal is None
    assert waits.ends() == 5


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_command_that_waits_fits_into_a_packet(
    waits: Waits, more: int, *, fits: bool
) -> None:
    descriptors = waits.descriptors
    used = len(json.dumps(descriptors.facts()))
    spare = packets.MAX_PACKET - ROOM - used + more
    name = descriptors.record.name + "x" * spare
    descriptors.record = descriptors.record._replace(name=name)

    if fits:
        waits.start.demand_room()
    else:
        with pytest.raises(RequestTooLarge):
            waits.start.demand_room()
    waits.answer(DROPPED)
    waits.start.demand_room()  # What does not wait is not deposited.
    waits.ends()


def test_people_are_shown_which_files_would_run(waits: Waits) -> None:
    given = waits.start.given
    assert given is not None

    asked = waits.start.question.question(waits.creator, given, EPOCH)

    assert (asked.session, asked.session_name) == (SESSION, "build")
    assert (asked.epoch, asked.cwd) == (EPOCH, str(waits.program.parent))
    execution = asked.execution
    assert execution is not None
    assert execution.words == (str(waits.program), "word")
    assert asked.resolution is not None
    (command,) = asked.resolution.commands
    script, interpreter = command.links
    assert (script.sort, script.name) == (Sort.SCRIPT, str(waits.program))
    assert (interpreter.sort, interpreter.name) == (Sort.PROGRAM, "/bin/sh")
    assert not waits.start.question.is_changed()
    waits.answer(DROPPED)
    waits.ends()


def test_a_file_that_is_not_there_is_of_no_known_kind(waits: Waits) -> None:
    waits.program.unlink()
    given = waits.start.given
    assert given is not None

    asked = waits.start.question.question(waits.creator, given, EPOCH)

    assert asked.resolution is not None
    (command,) = asked.resolution.commands
    assert command.doubt == "which file it is could not be determined"
    assert command.links[0].sort is Sort.UNKNOWN
    assert waits.start.question.expected() is None
    waits.answer(DROPPED)
    waits.ends()


def test_who_is_not_known_starts_nothing(waits: Waits) -> None:
    given = waits.start.given
    assert given is not None
    question = waits.start.question
    policy = read_policy(b'[default]\nhuman = "allow"\n')
    stranger = Actor(STRANGER, ActorKind.HUMAN, "stranger")

    ours = question.judge(policy, question.question(waits.creator, given, EPOCH))
    theirs = question.judge(policy, question.question(stranger, given, EPOCH))

    assert ours.verdict is Verdict.ALLOW
    assert theirs.verdict is Verdict.DENY
    waits.answer(DROPPED)
    waits.ends()
