import json

import pytest

from holdfast.model.errors import MalformedMessage
from holdfast.model.preview_report import (
    FileChange,
    LeftProcess,
    PreviewReport,
    Tried,
)

REPORT = PreviewReport(
    made_ms=5,
    ended=True,
    exit=0,
    files=(FileChange("made", "/x", 0, 3),),
    processes=(LeftProcess(4, "sleep 9"),),
    ports=("tcp 8000",),
    tried=(Tried("tcp", "1.2.3.4:80", 2),),
)


def test_a_report_is_read_as_it_was_written() -> None:
    assert PreviewReport.from_facts(json.loads(json.dumps(REPORT.facts()))) == REPORT


def test_a_report_of_the_wrong_shape_is_refused() -> None:
    wrong: tuple[object, ...] = (
        {"files": ["x"]},
        {"exit": "0"},
        [],
        {"tried": [{"times": "1"}]},
    )
    for facts in wrong:
        with pytest.raises(MalformedMessage):
            PreviewReport.from_facts(facts)


def test_a_report_is_named_by_all_that_it_says() -> None:
    assert REPORT.digest() == REPORT._replace().digest()
    assert REPORT.digest() != REPORT._replace(exit=1).digest()
    assert len(REPORT.digest()) == 32
