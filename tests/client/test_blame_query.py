from pathlib import Path

import pytest
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import FakeSession
from tests.cli.support.kernel import behind, blame, graph, process
from tests.cli.support.operating import OTHER

from holdfast.client import blame_query, calls
from holdfast.linux.procfs import TICKS
from holdfast.model.errors import NoMarks
from holdfast.wire.blame import BlameRequest

BY_OTHER = blame("changed", behind(OTHER))


def test_who_is_behind_something_is_asked_for(web: FakeSession) -> None:  # noqa: F811
    web.operating.kernel.blames["alias"] = BY_OTHER

    assert calls.blame(web.id, "alias", "deploy") == BY_OTHER
    asked = BlameRequest(what="alias", name="deploy", at_ms=0)
    assert web.operating.requested == [asked]


def test_a_refusal_is_raised(web: FakeSession) -> None:  # noqa: F811
    web.operating.refusal = NoMarks("cat")

    with pytest.raises(NoMarks):
        calls.blame(web.id, "alias", "x")


def test_a_file_is_asked_about_by_its_ctime(web: FakeSession, tmp_path: Path) -> None:  # noqa: F811
    web.operating.kernel.blames["moment"] = BY_OTHER
    path = tmp_path / "file"
    path.write_text("x")

    (touched,) = blame_query.file(web.id, str(path))
    assert touched.report == BY_OTHER
    asked = web.operating.requested[0]
    assert isinstance(asked, BlameRequest)
    assert asked.at_ms == path.stat().st_ctime_ns // 1_000_000


def test_a_process_is_asked_about_by_the_start_of_its_root(web: FakeSession) -> None:  # noqa: F811
    web.operating.kernel.blames["process"] = BY_OTHER
    seen = graph(process(7), process(8, 7), process(9, 8))

    (traced,) = blame_query.processes(web.id, 7, [9, 99], seen)
    assert (traced.root.pid, traced.root.is_by_time, traced.is_leader) == (
        8,
        False,
        False,
    )
    asked = web.operating.requested[0]
    assert isinstance(asked, BlameRequest)
    assert asked.at_ms == 80 * 1000 // TICKS


def test_a_time_before_all_times_can_be_asked_for(web: FakeSession) -> None:  # noqa: F811
    web.operating.kernel.blames["moment"] = blame("none")

    assert calls.blame(web.id, "moment", at_ms=-5).standing == "none"
