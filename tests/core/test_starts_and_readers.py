"""Small decisions about starts, and about lines that not the shell alone reads."""

from dataclasses import replace

from tests.core.book.test_entries import an_input
from tests.core.commands_world import prompted, told
from tests.core.driven_intake import ANNA, AT, DrivenIntake
from tests.core.policy.test_session_start import policy, question

from holdfast.core.book.entries import refused_fields
from holdfast.core.input.intake_effects import Consult
from holdfast.core.policy.policy import explain, judge
from holdfast.core.provenance.commands import Marked
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import Frozen
from holdfast.model.inputs import InputKind
from holdfast.model.resolutions import Link, Resolution, Resolved, Sort
from holdfast.model.verdicts import Verdict
from holdfast.term.marks import Buffer, Standing

PROGRAM = '[[rule]]\nname = "own"\nverdict = "allow"\nprogram = "/usr/bin/bash"\n'


def test_what_the_shell_says_of_its_line_is_no_command() -> None:
    machine = prompted()

    assert told(machine, Marked(Standing("ls", 2), 0)) == []
    assert told(machine, Marked(Buffer("ls", 2), 0)) == []


def test_a_start_that_is_refused_is_written_with_its_words() -> None:
    start = an_input(InputKind.START, b"cd / && ls")

    fields = refused_fields(start, ActorKind.HUMAN, None, Frozen())

    assert (fields["input"], fields["data"]) == ("start", "Y2QgLyAmJiBscw==")


def test_a_start_needs_no_turn() -> None:
    here = DrivenIntake()
    here.do(here.intake.grant(ANNA, Envelope(frozenset(Right)), ANNA, AT))

    given = here.send(actor=ANNA, kind=InputKind.START, payload=b"cd / && ls")

    assert here.last() == Consult(1, given)
    assert here.intake.turn.holder is None


def test_of_a_start_the_program_counts_that_was_looked_up() -> None:
    asked = question("bash", path="/opt/bash")
    found = Resolved((Link(Sort.PROGRAM, "/usr/bin/bash", b""),))

    assert judge(policy(PROGRAM), asked).verdict is not Verdict.ALLOW
    looked_up = replace(asked, resolution=Resolution((found,)))
    assert judge(policy(PROGRAM), looked_up).verdict is Verdict.ALLOW


def test_why_a_line_is_undecidable_is_told_if_others_may_read_it() -> None:
    rules = policy('[[rule]]\nname = "own"\nverdict = "allow"\nfirst = "ls"\n')
    line = replace(  # noqa: S604  # the name of a shell
        question("ls"),
        kind=InputKind.COMMAND,
        payload=b"ls",
        execution=None,
        shell="bash",
        shell_reads=False,
    )

    (found, *_) = explain(rules, line)

    assert "another program than the shell may read it" in str(found)
