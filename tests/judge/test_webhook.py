import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from holdfast.core.policy.policy import Judgement
from holdfast.core.policy.rules import Webhook
from holdfast.judge.plugins import Failed
from holdfast.judge.webhook import MAX_ANSWER, ask_webhook
from holdfast.model.verdicts import Verdict

QUESTION: dict[str, object] = {"actor": {"name": "b\u00f6t"}}


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[tuple[str, list[object]]]:
    heard: list[object] = []

    class Engine(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            heard.append((self.path, json.loads(self.rfile.read(size))))
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Engine) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", heard
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("answer", "judgement"),
    [
        ({"result": "allow"}, Judgement(Verdict.ALLOW, "webhook")),
        ("deny", Judgement(Verdict.DENY, "webhook")),
        ({"verdict": "ask", "rule": "r"}, Judgement(Verdict.ASK, "webhook/r")),
        (
            {"result": {"verdict": "ask", "why": "w"}, "decision_id": "x"},
            Judgement(Verdict.ASK, "webhook", "w"),
        ),
        ({"result": None}, None),
        (None, None),
    ],
)
def test_an_engine_is_asked_as_opa_is(
    answer: object, judgement: Judgement | None
) -> None:
    with answering(json.dumps(answer).encode()) as (url, heard):
        said = ask_webhook(Webhook(f"{url}/v1/data/gate?x=1", 1.0), QUESTION)

    assert said == judgement
    assert heard == [("/v1/data/gate?x=1", {"input": QUESTION})]


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        (b"{}", 200, "no verdict"),
        (b'{"result": true}', 200, "no verdict"),
        (b'{"result": "yes"}', 200, "no verdict"),
        (b'"allow"', 302, "status 302"),
        (b'"allow"', 500, "status 500"),
        (b"allow", 200, "no JSON"),
        (b"[" * 50_000, 200, "no JSON"),
        (b'"allow"' + b" " * MAX_ANSWER, 200, "too long"),
        (b"", 200, "no JSON"),
    ],
)
def test_anything_else_is_a_failure(body: bytes, status: int, why: str) -> None:
    with answering(body, status) as (url, heard):
        with pytest.raises(Failed, match=why):
            ask_webhook(Webhook(url, 1.0), QUESTION)

        assert len(heard) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "https://127.0.0.1:1/"])
def test_an_engine_that_is_not_there_is_a_failure(url: str) -> None:
    with pytest.raises(Failed, match="cannot reach"):
        ask_webhook(Webhook(url, 1.0), QUESTION)
