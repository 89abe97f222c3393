"""What is found out about a line before it is judged, at a real terminal."""

import subprocess

from tests.core.policy_world import question
from tests.holder.input_world import World
from tests.scenarios.support import eventually

from holdfast.client import current_operator
from holdfast.core.provenance.staged import Staged
from holdfast.holder.policy.line_resolution import MAX_NAMED, LineResolver
from holdfast.linux import procfs, pty
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import ActorId
from holdfast.model.policy_questions import Question
from holdfast.model.resolutions import Staging, Thing

NOTHING = Staged()
STRANGER = ActorId("a_stranger")


def completed(here: World, staged: Staged = NOTHING) -> Question:
    context = here.context
    resolver = LineResolver(context.descriptors, context.shell, context.clients)
    return resolver.completed(question(b"ls /nowhere"), staged)


def staging(asked: Question) -> list[Staging]:
    assert asked.resolution is not None
    (command,) = asked.resolution.commands
    return [*command.staged]


def test_a_terminal_that_nobody_has_has_no_foreground_and_no_shell(here: World) -> None:
    asked = completed(here)

    assert (asked.foreground, asked.shell) == (None, "")
    assert asked.shell_reads is False


def test_who_has_the_terminal_is_told_by_its_name_and_by_its_file(here: World) -> None:
    command = ["setsid", "--ctty", "sleep", "600"]
    with subprocess.Popen(command, stdin=here.slave) as process:
        try:
            eventually(
                "it runs in the foreground",
                lambda: _comm(pty.foreground(here.descriptors.master)) == "sleep",
            )
            asked = completed(here)
        finally:
            process.kill()

    assert asked.foreground == "sleep"
    assert asked.shell
    assert "/" not in asked.shell


def _comm(pid: int | None) -> str:
    found = None if pid is None else procfs.read_stat(pid)
    return "" if found is None else found.name


def test_a_line_of_which_nothing_stands_typed_was_staged_by_nobody(here: World) -> None:
    asked = completed(here)

    assert staging(asked) == []
    assert asked.originators == ()


def test_who_typed_the_beginning_of_a_line_is_one_of_its_originators(
    here: World,
) -> None:
    bert = current_operator.enrol("bert", ActorKind.HUMAN).actor
    assert not here.context.clients.knows(bert.id)

    asked = completed(here, Staged(b"rm -rf\t/", (bert.id, STRANGER)))

    assert asked.originators == (bert, Actor(STRANGER, ActorKind.AGENT, ""))
    (one,) = staging(asked)
    assert (one.what, one.by, one.is_known) == (Thing.LINE, (bert.id, STRANGER), True)
    assert here.context.clients.knows(bert.id)


def test_a_beginning_that_nobody_is_known_to_have_typed_is_not_vouched_for(
    here: World,
) -> None:
    (one,) = staging(completed(here, Staged(b"x" * (MAX_NAMED + 50))))

    assert not one.is_known
    assert one.name == "x" * MAX_NAMED + "…"


def test_nobody_is_known_to_have_started_what_an_unmarked_shell_runs(
    here: World,
) -> None:
    context = here.context
    resolver = LineResolver(context.descriptors, context.shell, context.clients)

    assert resolver.started_by() is None
