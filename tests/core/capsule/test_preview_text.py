from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.capsule.preview_text import brief, outdated, summary, told
from holdfast.model.preview_report import (
    FileChange,
    LeftProcess,
    PreviewReport,
    Tried,
)
from holdfast.model.text import printable
from holdfast.wire.messages import MAX_NUMBER, MAX_PREVIEW

REPORT = PreviewReport(
    ended=True,
    exit=2,
    duration_ms=1234,
    output="hello\n\tworld\n",
    files=(
        FileChange("made", "/w/new", 0, 5),
        FileChange("changed", "/w/old", 4, 9),
        FileChange("deleted", "/w/gone", 7),
    ),
    diff="--- a\n+++ b\n",
    processes=(LeftProcess(7, "sleep 99"),),
    ports=("tcp 0.0.0.0:8000",),
    tried=(Tried("tcp", "1.2.3.4:80", 3), Tried("name", "example.com")),
    unseen=("sockets in files",),
    branch="web-2",
)


def test_everything_is_told_and_its_output_last() -> None:
    assert told(REPORT) == [
        (
            "exit 2 after 1.2 s; 1 file made; 1 file changed; 1 file deleted;"
            " 1 process left running; 1 port opened; 2 connections tried"
        ),
        "files:",
        "  made    /w/new (5 bytes)",
        "  changed /w/old (4 to 9 bytes)",
        "  deleted /w/gone (7 bytes)",
        "left running:",
        "  7 sleep 99",
        "listens on:",
        "  tcp 0.0.0.0:8000",
        "tried to reach:",
        "  tcp 1.2.3.4:80, 3 times",
        "  name example.com",
        "not observed:",
        "  sockets in files",
        "diff:",
        "  --- a",
        "  +++ b",
        "output:",
        "  hello",
        "      world",
        "kept as web-2",
    ]


def test_of_nothing_nothing_is_told() -> None:
    assert told(PreviewReport(ended=True, exit=0)) == ["exit 0 after 0.0 s"]


def test_why_there_was_no_preview_is_all_that_is_told() -> None:
    report = PreviewReport("it is not in a capsule", output="x")

    assert told(report) == ["not previewed: it is not in a capsule"]
    assert not brief(report).ran


def test_a_command_that_did_not_end_has_no_status() -> None:
    report = PreviewReport(duration_ms=60_000)

    assert summary(report) == "still running after 60.0 s, and stopped"
    assert brief(report).exit is None
    assert summary(PreviewReport(ended=True)) == "exit unknown after 0.0 s"


def test_what_is_left_out_is_counted() -> None:
    many = tuple(FileChange("made", f"/w/{one}") for one in range(20))
    report = PreviewReport(
        ended=True,
        exit=0,
        files=many,
        files_left_out=5,
        ports=("tcp 1",),
        ports_left_out=1,
        output="\n".join(str(one) for one in range(100)),
        diff="+x\n" * 100,
    )

    shown = brief(report)

    assert "  … and 13 more" in shown.text
    assert "5 more files made or changed" in shown.text
    assert "2 ports opened" in shown.text
    assert "output, its end:" in shown.text
    assert shown.text.endswith("\n  99")
    assert "  … the rest is not shown" in shown.text
    assert (shown.files, shown.ports) == (25, 2)


def test_an_end_that_was_cut_is_called_so() -> None:
    assert "output, its end:" in told(PreviewReport(output="x", output_left_out=9))
    assert "  … the rest is not shown" in told(
        PreviewReport(diff="x", diff_is_cut=True)
    )


def test_what_has_changed_since_is_said_once() -> None:
    shown = outdated(brief(REPORT))

    assert shown.text.startswith("what it runs has changed since this preview:\nexit 2")
    assert outdated(shown) == shown


def test_a_number_from_elsewhere_is_bounded() -> None:
    report = PreviewReport(exit=-9, duration_ms=2**60, files_left_out=-3)

    shown = brief(report)

    assert (shown.exit, shown.duration_ms, shown.files) == (0, MAX_NUMBER, 0)


texts = st.text(max_size=300)
reports = st.builds(
    PreviewReport,
    problem=st.just("") | texts,
    ended=st.booleans(),
    exit=st.none() | st.integers(),
    output=texts,
    files=st.lists(st.builds(FileChange, texts, texts), max_size=40).map(tuple),
    diff=texts,
    processes=st.lists(st.builds(LeftProcess, st.integers(), texts)).map(tuple),
    ports=st.lists(texts, max_size=20).map(tuple),
    tried=st.lists(st.builds(Tried, texts, texts), max_size=20).map(tuple),
    unseen=st.lists(texts, max_size=20).map(tuple),
    branch=texts,
)


@given(reports)
def test_i1_no_line_is_obeyed_by_a_terminal(report: PreviewReport) -> None:
    for line in told(report):
        assert printable(line, len(line)) == line


@given(reports)
def test_i2_a_brief_fits(report: PreviewReport) -> None:
    assert len(brief(report).text) <= MAX_PREVIEW


def test_i2_the_longest_report_is_told_by_its_summary() -> None:
    long = "x" * 500
    report = PreviewReport(
        ended=True,
        exit=0,
        files=(FileChange("made", long),) * 9,
        processes=(LeftProcess(1, long),) * 9,
        ports=(long,) * 9,
        tried=(Tried("tcp", long),) * 9,
        unseen=(long,) * 9,
        diff=f"{long}\n" * 9,
        output=f"{long}\n" * 9,
        branch=long,
    )

    assert len(brief(report).text) <= MAX_PREVIEW
