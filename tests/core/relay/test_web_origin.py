import pytest

from holdfast.core.relay.web_origin import Asked, OriginCheck

NAME = "relay.example"
DOOR = OriginCheck([NAME, "127.0.0.1:7447"], "https")

FOREIGN_ORIGINS = [
    "null",
    "",
    " ",
    "https://",
    "https:",
    "http://relay.example",
    "wss://relay.example",
    "https://relay.example:443",
    "https://relay.example:8443",
    "https://relay.example/",
    "https://relay.example/j",
    "https://relay.example.",
    "https://relay.example.evil.test",
    "https://evil.test/relay.example",
    "https://evil.test#relay.example",
    "https://evil.test?relay.example",
    "https://evilrelay.example",
    "https://sub.relay.example",
    "https://relay.example@evil.test",
    "https://user@relay.example",
    "https://RELAY.EXAMPLE",
    "https://Relay.example",
    "HTTPS://relay.example",
    "https://relay.exampl\u0435",
    "https://r\u0435lay.example",
    "https://xn--rlay-q4d.example",
    "https://relay\u3002example",
    "https://relay.example\u0000",
    "https://relay.example\t",
    " https://relay.example",
    "https://relay.example ",
    "https://relay.example, https://evil.test",
    "https://evil.test, https://relay.example",
    "https://relay.example https://relay.example",
    "https:/relay.example",
    "https:///relay.example",
    "https:\\\\relay.example",
    "https://[::1]",
    "https://127.0.0.1",
    "https://127.0.0.1:7448",
    "https://127.1:7447",
    "https://2130706433:7447",
    "https://0x7f.0.0.1:7447",
    "https://0177.0.0.1:7447",
    "https://localhost:7447",
    "https://0.0.0.0:7447",
    "http://127.0.0.1:7447",
    "file://",
    "file:///",
    "data:",
    "blob:https://relay.example",
    "about:blank",
    "chrome-extension://relay.example",
    "moz-extension://relay.example",
    "app://relay.example",
    "capacitor://localhost",
    "javascript:0",
    "ftp://relay.example",
    "https%3A%2F%2Frelay.example",
    "//relay.example",
    "relay.example",
    "*",
    "https://*",
    "https://*.example",
    "undefined",
    "evil.test",
    "https://evil.test",
]

FOREIGN_HOSTS = [
    "",
    "relay.example:443",
    "relay.example:80",
    "relay.example:7447",
    "relay.example.",
    "RELAY.EXAMPLE",
    "Relay.Example",
    "user@relay.example",
    "relay.example@evil.test",
    "relay.example, evil.test",
    "sub.relay.example",
    "evil.test",
    "evil.test:7447",
    "127.0.0.1",
    "127.0.0.1:7448",
    "127.0.0.1:07447",
    "127.1:7447",
    "2130706433:7447",
    "localhost:7447",
    "[::1]:7447",
    "[::1%25lo]:7447",
    "[::ffff:127.0.0.1]:7447",
    "0.0.0.0:7447",
    " relay.example",
    "relay.example ",
    "relay.example/",
    "https://relay.example",
    "r\u0435lay.example",
]


def request(*, host: str = NAME, target: str = "/v1/operator", **more: str) -> Asked:
    headers = [("host", host)]
    headers += [(name.replace("_", "-"), value) for name, value in more.items()]
    return Asked(target, headers)


def objection(asked: Asked, *, wants_websocket: bool = True) -> str:
    return DOOR.objection(asked, wants_websocket=wants_websocket)


def test_there_are_at_least_sixty_foreign_origins() -> None:
    assert len(FOREIGN_ORIGINS) >= 60


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
@pytest.mark.parametrize("target", ["/v1/operator", "/v1/host", "/metrics", "/"])
def test_t52_a_foreign_origin_is_refused_on_every_path(
    origin: str, target: str
) -> None:
    asked = request(origin=origin, target=target)

    assert objection(asked) == "origin"
    assert objection(asked, wants_websocket=False) == "origin"


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
@pytest.mark.parametrize("target", ["/v1/operator", "/healthz", "/metrics", "/", "/x"])
def test_t53_a_wrong_host_is_refused_on_every_path(host: str, target: str) -> None:
    assert objection(request(host=host, target=target)) == "host"
    assert objection(request(host=host, target=target), wants_websocket=False) == "host"


def test_i1_no_host_and_two_hosts_are_refused() -> None:
    assert objection(Asked("/", [])) == "host"
    assert objection(Asked("/", [("host", NAME), ("host", NAME)])) == "host"


def test_i2_our_own_page_and_programs_are_let_in() -> None:
    assert objection(request()) == ""
    assert objection(request(origin=f"https://{NAME}")) == ""
    assert objection(request(host="127.0.0.1:7447")) == ""
    assert objection(request(user_agent="curl/8.0")) == ""


def test_i2_two_origins_are_refused_even_if_both_are_ours() -> None:
    ours = ("origin", f"https://{NAME}")

    assert objection(Asked("/", [("host", NAME), ours, ours])) == "origin"


@pytest.mark.parametrize(
    "browsers",
    [
        {"user_agent": "Mozilla/5.0 (X11)"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_mode": "websocket"},
        {"sec_fetch_dest": "empty"},
        {"cookie": "a=b"},
    ],
)
def test_t52_a_browser_without_an_origin_opens_no_websocket(
    browsers: dict[str, str],
) -> None:
    assert objection(request(**browsers)) == "origin-missing"
    assert objection(request(**browsers), wants_websocket=False) == ""


@pytest.mark.parametrize("target", ["/v1/host?token=x", "/?", "/j?x", "/j#x"])
def test_t55_a_query_is_refused(target: str) -> None:
    assert objection(request(target=target)) == "query"
