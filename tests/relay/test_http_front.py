import gzip
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from holdfast.core.relay.web_origin import OriginCheck
from holdfast.model.errors import UsageError
from holdfast.relay.http_front import HttpFront, read_web
from holdfast.wire.relay_messages import Role

PAGE = b"<!doctype html>" + b" " * 1000


@pytest.fixture
def front(tmp_path: Path) -> HttpFront:
    (tmp_path / "index.html").write_bytes(PAGE)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "a.js").write_bytes(b"1")
    door = OriginCheck(["relay.example"], "https")
    return HttpFront(door, read_web(tmp_path), str, has_open_metrics=False)


def asked(front: HttpFront, path: str, **headers: str) -> Response:
    given = Headers({"Host": "relay.example", **headers})
    answer = front.answer(Request(path, given), "192.0.2.1")
    assert isinstance(answer, tuple)
    return answer[0]


@pytest.mark.parametrize("path", ["/", "/j", "/index.html"])
def test_the_page_is_shown_under_each_of_its_paths(front: HttpFront, path: str) -> None:
    assert asked(front, path).body == PAGE


def test_a_browser_that_takes_it_gets_the_page_in_less_room(front: HttpFront) -> None:
    answer = asked(front, "/", **{"Accept-Encoding": "gzip, br"})

    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Content-Length"] == str(len(answer.body))
    assert len(answer.body) < len(PAGE)
    assert gzip.decompress(answer.body) == PAGE


def test_what_does_not_get_smaller_stays_as_it_is(front: HttpFront) -> None:
    answer = asked(front, "/assets/a.js", **{"Accept-Encoding": "gzip"})

    assert "Content-Encoding" not in answer.headers
    assert answer.body == b"1"


def test_t56_every_answer_says_what_the_page_may_do(front: HttpFront) -> None:
    policy = asked(front, "/").headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/../secret", "/assets", "/nothing"])
def test_no_other_path_leads_anywhere(front: HttpFront, path: str) -> None:
    assert asked(front, path).status_code == 404


def test_a_folder_without_a_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_web(tmp_path)


def test_who_may_see_the_numbers(front: HttpFront) -> None:
    request = Request("/metrics", Headers({"Host": "relay.example"}))
    door = OriginCheck(["relay.example"], "https")
    for_all = HttpFront(door, {}, lambda: "numbers", has_open_metrics=True)

    def status(of: HttpFront, address: str) -> tuple[int, str]:
        answer = of.answer(request, address)
        assert isinstance(answer, tuple)
        return answer[0].status_code, answer[1]

    assert status(front, "192.0.2.1") == (403, "metrics")
    assert status(front, "127.0.0.1") == (200, "")
    assert status(for_all, "192.0.2.1") == (200, "")
    assert asked(for_all, "/metrics").body == b"numbers"


def test_a_relay_says_that_it_is_well_and_takes_no_other_method(
    front: HttpFront,
) -> None:
    assert asked(front, "/healthz").body == b"ok\n"
    request = Request("/", Headers({"Host": "relay.example"}), method="POST")

    answer = front.answer(request, "192.0.2.1")

    assert isinstance(answer, tuple)
    assert (answer[0].status_code, answer[1]) == (405, "method")


@pytest.mark.parametrize("role", [*Role])
def test_a_role_is_dialled_by_its_path(front: HttpFront, role: Role) -> None:
    given = Headers({"Host": "relay.example"})

    assert front.answer(Request(f"/v1/{role}", given), "192.0.2.1") is role


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        ("/?token=x", "relay.example", 400),
        ("/", "evil.example", 403),
        ("/v1/host?x", "relay.example", 400),
    ],
)
def test_what_is_not_meant_for_us_is_refused(
    front: HttpFront, path: str, host: str, status: int
) -> None:
    answer = front.answer(Request(path, Headers({"Host": host})), "192.0.2.1")

    assert isinstance(answer, tuple)
    assert answer[0].status_code == status
    assert answer[1]
    assert answer[0].body in {None, b""}
