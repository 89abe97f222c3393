from holdfast.core.capsule.preview_findings import (
    MAX_DIFF,
    MAX_FILES,
    MAX_OUTPUT,
    MAX_THINGS,
    Command,
    Glance,
    Seen,
    report_of,
)
from holdfast.model.preview_report import FileChange, LeftProcess, Tried

BEFORE = Glance({(1, 10): "bash", (5, 20): "sleep 9"}, frozenset({"tcp 127.0.0.1:22"}))
SEEN = Seen(
    Command(ended=True, exit=0, duration_ms=5, output="out", output_left_out=3),
    BEFORE,
    BEFORE,
    (),
    "",
    diff_is_cut=False,
    tried=(),
    tried_left_out=0,
    unseen=("nothing",),
)


def test_what_was_there_before_is_not_told() -> None:
    report = report_of(SEEN, 77)

    assert (report.processes, report.ports, report.made_ms) == ((), (), 77)
    assert (report.output, report.output_left_out) == ("out", 3)
    assert report.unseen == ("nothing",)


def test_what_is_new_is_told() -> None:
    after = Glance(
        {(1, 10): "bash", (5, 21): "sleep 9", (9, 30): "httpd"},
        frozenset({"tcp 127.0.0.1:22", "tcp 0.0.0.0:80"}),
    )

    report = report_of(SEEN._replace(after=after), 0)

    assert report.processes == (LeftProcess(5, "sleep 9"), LeftProcess(9, "httpd"))
    assert report.ports == ("tcp 0.0.0.0:80",)


def test_a_report_is_bounded_and_says_by_how_much() -> None:
    many = MAX_THINGS + 7
    seen = SEEN._replace(
        command=SEEN.command._replace(output="x" * (MAX_OUTPUT + 2)),
        after=Glance(
            {(one, 1): "x" for one in range(many)},
            frozenset(f"tcp {one}" for one in range(many)),
        ),
        files=(FileChange("made", "/x"),) * (MAX_FILES + 4),
        diff="x" * (MAX_DIFF + 1),
        tried=(Tried("tcp", "x"),) * many,
        tried_left_out=1,
    )

    report = report_of(seen, 0)

    assert (len(report.files), report.files_left_out) == (MAX_FILES, 4)
    assert (len(report.processes), report.processes_left_out) == (MAX_THINGS, 7)
    assert (len(report.ports), report.ports_left_out) == (MAX_THINGS, 7)
    assert (len(report.tried), report.tried_left_out) == (MAX_THINGS, 8)
    assert (len(report.output), report.output_left_out) == (MAX_OUTPUT, 5)
    assert (len(report.diff), report.diff_is_cut) == (MAX_DIFF, True)
    assert report_of(SEEN._replace(diff_is_cut=True), 0).diff_is_cut
