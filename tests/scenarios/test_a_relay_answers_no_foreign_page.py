from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.relays import Relay, relay, wait_for

PATHS = ["/v1/host", "/v1/meet", "/v1/operator", "/healthz", "/metrics", "/", "/j"]
HOSTS = [
    "evil.test",
    "evil.test:80",
    "LOCALHOST",
    "localhost",
    "localhost:1",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.1",
    "[::1]",
    "user@127.0.0.1",
    "127.0.0.1.",
]
ORIGINS = [
    "null",
    "http://evil.test",
    "http://127.0.0.1",
    "https://{name}",
    "http://{name}.evil.test",
    "http://evil.test/{name}",
    "http://{name}/",
    "HTTP://{name}",
    "http://localhost",
    "file://",
]
FILES = {
    "index.html": "<!doctype html><title>t</title>",
    "app.js": "1",
    "sub/style.css": "p{}",
}


@pytest.fixture(scope="module")
def point(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Relay]:
    web = tmp_path_factory.mktemp("web")
    for name, text in FILES.items():
        (web / name).parent.mkdir(exist_ok=True)
        (web / name).write_text(text)
    (web / "link.html").symlink_to("/etc/passwd")
    with relay(tmp_path_factory.mktemp("relay"), "--web", str(web)) as made:
        yield made


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", HOSTS)
def test_t53_a_wrong_host_gets_403_on_every_path(
    point: Relay, path: str, host: str
) -> None:
    assert status(point.get(path, host=host)) == 403


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origin", ORIGINS)
def test_t52_a_foreign_origin_gets_403_before_anything_is_accepted(
    point: Relay, path: str, origin: str
) -> None:
    sent = f"Origin: {origin.format(name=point.name)}"
    request = point.upgrade_request(path, sent)

    assert status(point.sent(request)) == 403


def test_t52_our_own_page_and_programs_may_open_a_link(point: Relay) -> None:
    for more in ((), (f"Origin: http://{point.name}",)):
        with point.dial() as link:
            link.sendall(point.upgrade_request("/v1/operator", *more))
            assert status(link.recv(4096)) == 101


def test_t52_two_hosts_or_two_origins_get_403(point: Relay) -> None:
    ours = f"Origin: http://{point.name}"

    assert status(point.get("/healthz", f"Host: {point.name}")) == 403
    assert status(point.sent(point.upgrade_request("/v1/host", ours, ours))) == 403
    assert status(point.sent(b"GET /healthz HTTP/1.1\r\n\r\n")) == 403


@pytest.mark.parametrize("path", PATHS)
def test_t55_a_query_is_refused_even_if_all_else_is_right(
    point: Relay, path: str
) -> None:
    assert status(point.sent(point.upgrade_request(f"{path}?token=secret"))) == 400
    assert "secret" not in point.said()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "TRACE", "BREW"])
@pytest.mark.parametrize("path", PATHS)
def test_t54_nothing_but_get_is_answered(point: Relay, method: str, path: str) -> None:
    request = f"{method} {path} HTTP/1.1\r\nHost: {point.name}\r\n\r\n"

    assert status(point.sent(request.encode())) == 405


@pytest.mark.parametrize(
    "path",
    [
        "/../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/sub/../app.js",
        "/app.js%00",
        "/app.js/",
        "/link.html",
        "/sub",
        "http://127.0.0.1/app.js",
        "*",
        "",
        "\\app.js",
    ],
)
def test_no_name_reaches_the_file_system(point: Relay, path: str) -> None:
    assert status(point.get(path)) in (0, 400, 404)


@pytest.mark.parametrize(
    "headers",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: -1",),
        ("Content-Length : 0",),
        ("X: a\r\n folded",),
        ("X\x00: a",),
        (": a",),
    ],
)
def test_a_request_that_two_would_read_differently_is_not_answered(
    point: Relay, headers: tuple[str, ...]
) -> None:
    assert status(point.get("/healthz", *headers)) in (0, 400, 431, 501)


def test_t56_what_is_served_is_safe_to_show(point: Relay) -> None:
    for path, kind, body in (
        ("/", b"text/html", b"<!doctype"),
        ("/j", b"text/html", b"<!doctype"),
        ("/app.js", b"text/javascript", b"1"),
        ("/sub/style.css", b"text/css", b"p{}"),
    ):
        head, _, rest = point.get(path).partition(b"\r\n\r\n")
        assert status(head) == 200
        assert b"Content-Type: " + kind in head
        assert b"Content-Security-Policy: default-src 'none'" in head
        assert b"frame-ancestors 'none'" in head
        assert b"X-Content-Type-Options: nosniff" in head
        assert b"Set-Cookie" not in head
        assert rest.startswith(body)


def test_t14_without_a_page_nothing_is_served_that_a_browser_would_run(
    tmp_path: Path,
) -> None:
    with relay(tmp_path, "--no-web") as bare:
        for path in ("/", "/j", "/index.html", "/app.js", "/favicon.ico"):
            assert status(bare.get(path)) == 404
        for path in ("/healthz", "/metrics"):
            assert b"Content-Type: text/plain" in bare.get(path)


def test_the_relay_says_how_it_does(point: Relay) -> None:
    assert point.get("/healthz").endswith(b"\r\n\r\nok\n")
    point.get("/healthz", host="evil.test")
    numbers = point.metrics()

    assert numbers["hosts"] == 0
    assert numbers["connections_total"] > 0
    assert numbers['requests_refused_total{why="host"}'] > 0


def test_behind_a_proxy_its_word_counts_for_who_somebody_is(tmp_path: Path) -> None:
    options = ("--behind-proxy", "--name", "relay.example")
    with relay(tmp_path, *options, "--max-unproven-per-address", "2") as point:
        near, far = "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 1.2.3.4, 192.0.2.1"

        def get(path: str, *headers: str) -> int:
            return status(point.get(path, *headers, host="relay.example"))

        assert get("/healthz", far) == 200
        assert get("/metrics", far) == 403
        assert get("/metrics", near) == 200
        assert get("/healthz") == 429
        request = point.upgrade_request("/v1/host", far)
        request = request.replace(point.name.encode(), b"relay.example")
        links = [point.dial() for _ in range(2)]
        for link in links:
            link.sendall(request)
            assert status(link.recv(4096)) == 101
        assert get("/healthz", far) == 429
        assert get("/healthz", near) == 200
        for link in links:
            link.close()
        wait_for(lambda: get("/healthz", far) == 200)


def test_without_a_proxy_nobodys_word_counts(point: Relay) -> None:
    lied = point.get("/metrics", "X-Forwarded-For: 192.0.2.1")

    assert status(lied) == 200
