from dataclasses import dataclass, field

import pytest
from tests.core.shell_world import ANNA, BOT, Shell, moment, state

from holdfast.core.provenance.originators import Origins
from holdfast.core.provenance.staged import StagedLine
from holdfast.holder.provenance import blame
from holdfast.model.errors import MalformedArgument, NoMarks
from holdfast.wire.blame import MAX_STRETCHES, BlameReport, BlameRequest
from holdfast.wire.codec import encode


@dataclass
class Followed:
    """What ShellCommands says of a shell."""

    origins: Origins = field(default_factory=Origins)
    is_marked: bool = True
    is_silent: bool = False


@pytest.fixture
def shell() -> Shell:
    made = Shell()
    made.see(state(PATH="/bin", HOME="/"))
    made.run(BOT, "alias deploy=rm")
    made.see(state(PATH="/bin", HOME="/", deploy="rm"))
    made.run(ANNA, "deploy")
    made.see(None)
    return made


def ask(shell: Shell, what: str, name: str = "", at_ms: int = 0) -> BlameReport:
    asked = BlameRequest(what=what, name=name, at_ms=at_ms)
    report = blame.report(asked, Followed(shell.origins))
    assert encode(report)
    return report


def test_who_set_something_and_who_ran_it_is_told(shell: Shell) -> None:
    report = ask(shell, "alias", "deploy")

    assert (report.standing, report.how, report.digest) == ("changed", "added", b"rm")
    assert report.behind is not None
    assert (report.behind.trigger, report.behind.command) == (BOT, 1)
    assert report.used is not None
    assert report.used.trigger == ANNA


@pytest.mark.parametrize(
    ("what", "name", "standing"),
    [("variable", "HOME", "initial"), ("function", "deploy", "absent")],
)
def test_what_nobody_set_is_told_apart(
    shell: Shell, what: str, name: str, standing: str
) -> None:
    report = ask(shell, what, name)

    assert (report.standing, report.behind) == (standing, None)


def test_what_is_not_known_is_unknown(shell: Shell) -> None:
    shell.see(state(PATH="/evil", HOME="/"))

    report = ask(shell, "variable", "PATH")
    assert (report.standing, report.behind) == ("unknown", None)


def test_a_moment_and_a_process_are_told_by_their_times(shell: Shell) -> None:
    at = moment(12)

    for report in (
        ask(shell, "moment", at_ms=at.wall_ms),
        ask(shell, "process", at_ms=at.up_ms),
    ):
        assert report.behind is not None
        assert report.behind.trigger == BOT
    assert ask(shell, "moment", at_ms=1).standing == "none"


def test_a_shell_that_tells_nothing_cannot_be_asked() -> None:
    asked = BlameRequest(what="alias", name="x", at_ms=0)

    with pytest.raises(NoMarks):
        blame.report(asked, Followed(is_marked=False))


def test_what_no_shell_has_is_refused(shell: Shell) -> None:
    with pytest.raises(MalformedArgument):
        ask(shell, "colour", "red")


def test_a_line_is_told_stretch_by_stretch() -> None:
    line = StagedLine()
    line.typed(BOT, b"rm -rf ", echo_off=False)
    line.typed(ANNA, b"/\x10", echo_off=False)
    line.typed(BOT, b"secret", echo_off=True)

    report = blame.line_report(line.stands(), line.owners())
    assert [(one.size, one.actor) for one in report.by] == [(7, BOT), (1, ANNA)]
    assert (report.staged, report.edited, report.hidden) == (b"rm -rf /", True, 6)
    assert report.others == ()


def test_an_empty_line_is_nobodys() -> None:
    line = StagedLine()

    assert blame.line_report(line.stands(), line.owners()).standing == "none"


def test_a_line_typed_by_turns_is_told_as_far_as_it_goes() -> None:
    line = StagedLine()
    for number in range(MAX_STRETCHES + 9):
        line.typed((ANNA, BOT)[number % 2], b"x", echo_off=False)

    report = blame.line_report(line.stands(), line.owners())
    assert len(report.by) == len(report.staged) == MAX_STRETCHES
    assert encode(report)
