"""What a preview tells who asked for it, whatever was found in the branch."""

import json
import signal
from collections.abc import Iterator

import pytest
from tests.cli.support.fakes import FakeSession

from holdfast.cli import preview_run
from holdfast.cli.main import main
from holdfast.client.branch_preview import RUNTIME, Wanted
from holdfast.model.errors import NotPreviewable
from holdfast.model.preview_report import FileChange, PreviewReport
from holdfast.model.session_record import SessionRecord

Capture = pytest.CaptureFixture[str]

DONE = PreviewReport(
    ended=True,
    exit=0,
    duration_ms=1500,
    output="gone\n",
    files=(FileChange("deleted", "/etc/x\x1b", 7),),
)


class Branch:
    """In place of a branch: what is found there, and what was wanted."""

    def __init__(self) -> None:
        self.report = DONE
        self.wanted: list[tuple[str, Wanted]] = []
        self.terminated: object = None

    def preview(self, parent: SessionRecord, wanted: Wanted) -> PreviewReport:
        """Return what a test has been found."""
        self.wanted.append((parent.id, wanted))
        self.terminated = signal.getsignal(signal.SIGTERM)
        if self.report.problem:
            raise NotPreviewable(parent.label, self.report.problem)
        return self.report


@pytest.fixture
def branch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Branch]:
    made = Branch()
    monkeypatch.setattr(preview_run, "try_out", made.preview)
    before = signal.getsignal(signal.SIGTERM)
    yield made
    signal.signal(signal.SIGTERM, before)


def test_what_the_line_did_is_told_safe_to_print(
    web: FakeSession, branch: Branch, capsys: Capture
) -> None:
    assert main(["run", "--preview", "web", "--", "rm /etc/x"]) == 0

    said = capsys.readouterr().out
    assert said.startswith("exit 0 after 1.5 s; 1 file deleted\n")
    assert "\x1b" not in said
    assert said.endswith("output:\n  gone\n")
    ((session, wanted),) = branch.wanted
    assert (session, wanted.timeout, wanted.keep) == (web.id, RUNTIME, False)
    assert wanted.line.startswith(b"rm /etc/x")


def test_json_has_the_session_and_everything_that_was_found(
    web: FakeSession, branch: Branch, capsys: Capture
) -> None:
    branch.report = DONE._replace(branch="web-1")

    words = ["run", "--preview", "--keep", "--json", "--timeout", "2.5", "web", "--"]
    assert main([*words, "true"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert said.pop("session") == web.id
    assert PreviewReport.from_facts(said) == branch.report
    assert branch.wanted[0][1][1:] == (2.5, True)


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    ("report", "status"),
    [
        (DONE._replace(exit=3), 3),
        (DONE._replace(exit=None), preview_run.EXIT_UNSETTLED),
        (DONE._replace(ended=False), preview_run.EXIT_UNSETTLED),
    ],
)
def test_its_status_is_the_commands_or_says_that_it_is_not_known(
    branch: Branch, report: PreviewReport, status: int
) -> None:
    branch.report = report

    assert main(["run", "--preview", "web", "--", "false"]) == status


@pytest.mark.usefixtures("web")
def test_who_is_told_to_end_discards_the_branch_first(branch: Branch) -> None:
    main(["run", "--preview", "web", "--", "true"])

    assert branch.terminated is signal.default_int_handler


@pytest.mark.usefixtures("web")
def test_why_there_is_no_preview_is_said(branch: Branch, capsys: Capture) -> None:
    branch.report = PreviewReport("its branch does not have its own files")

    assert main(["run", "--preview", "web", "--", "true"]) == 64
    assert "its branch does not have its own files" in capsys.readouterr().err


def test_a_session_that_has_ended_is_not_tried_out_in(
    web: FakeSession, branch: Branch, capsys: Capture
) -> None:
    web.exits(0)

    assert main(["run", "--preview", "web", "--", "true"]) == 64
    assert "exited" in capsys.readouterr().err
    assert branch.wanted == []
