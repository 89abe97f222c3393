import gzip
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from holdfast.core.relay.web_origin import FrontDoor
from holdfast.model.errors import UsageError
from holdfast.relay.front import Front, read_web

PAGE = b"<!doctype html>" + b" " * 1000


@pytest.fixture
def front(tmp_path: Path) -> Front:
    (tmp_path / "index.html").write_bytes(PAGE)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "a.js").write_bytes(b"1")
    door = FrontDoor(["relay.example"], "https")
    return Front(door, read_web(tmp_path), str, has_open_metrics=False)


def asked(front: Front, path: str, **headers: str) -> Response:
    given = Headers({"Host": "relay.example", **headers})
    answer = front.answer(Request(path, given), "192.0.2.1")
    assert isinstance(answer, tuple)
    return answer[0]


@pytest.mark.parametrize("path", ["/", "/j", "/index.html"])
def test_the_page_is_shown_under_each_of_its_paths(front: Front, path: str) -> None:
    assert asked(front, path).body == PAGE


def test_a_browser_that_takes_it_gets_the_page_in_less_room(front: Front) -> None:
    answer = asked(front, "/", **{"Accept-Encoding": "gzip, br"})

    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Content-Length"] == str(len(answer.body))
    assert len(answer.body) < len(PAGE)
    assert gzip.decompress(answer.body) == PAGE


def test_what_does_not_get_smaller_stays_as_it_is(front: Front) -> None:
    answer = asked(front, "/assets/a.js", **{"Accept-Encoding": "gzip"})

    assert "Content-Encoding" not in answer.headers
    assert answer.body == b"1"


def test_t56_every_answer_says_what_the_page_may_do(front: Front) -> None:
    policy = asked(front, "/").headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/../secret", "/assets", "/nothing"])
def test_no_other_path_leads_anywhere(front: Front, path: str) -> None:
    assert asked(front, path).status_code == 404


def test_a_folder_without_a_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_web(tmp_path)
