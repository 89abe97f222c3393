"""The page's policy, asked at a server that answers in OPA's form."""

import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.docs.printed_lines import Line, account

PAGE = (Path(__file__).parents[2] / "docs/howto/policy-with-opa.md").read_text("utf-8")
REGO = PAGE.split("```rego\n")[1].split("```")[0]
POLICY = PAGE.split("```toml\n")[1].split("```")[0]
ADDRESS = "http://127.0.0.1:8181"
ALLOWED, FORBIDDEN = (
    set(re.findall(r'"(\w+)"', words)) for words in re.findall(r"in (\{.*?\})", REGO)
)


def decision(asked: dict[str, object]) -> dict[str, str]:
    """Decide as the page's Rego does."""
    actor, commands = asked["actor"], asked["commands"]
    assert isinstance(actor, dict)
    assert isinstance(commands, list | None)
    if actor["kind"] == "human":
        return {"verdict": "allow", "rule": "people"}
    first = [one[0] for one in commands or []]
    if FORBIDDEN & {*first}:
        return {"verdict": "deny", "rule": "no-root", "why": "agents do not"}
    if first and {*first} <= ALLOWED:
        return {"verdict": "allow", "rule": "tests"}
    return {"verdict": "ask", "rule": "unknown"}


class Engine(http.server.BaseHTTPRequestHandler):
    """OPA's data API, for the one document that the page names."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        known = self.path == "/v1/data/holdfast/gate"
        said = {"result": decision(json.loads(body)["input"])} if known else {}
        answer = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""


@contextmanager
def engine() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_page_s_policy_is_decided_by_what_answers_as_opa_does() -> None:
    with engine() as url, account() as somebody:
        config = somebody.home / ".config/holdfast"
        config.mkdir(mode=0o700, parents=True)
        (config / "policy.toml").write_text(POLICY.replace(ADDRESS, url))
        asked = "holdfast gate test web --as-operator robo --"
        done = somebody.run(
            [
                Line("holdfast gate apply --yes", 0),
                Line("holdfast operators add robo", 0),
                Line("holdfast new --detach --name web", 0),
                Line(f"{asked} ls", 0),
                Line(f"{asked} sudo reboot", 77),
                Line(f"{asked} 'ls && sudo reboot'", 77),
                Line(f"{asked} rm x", 75),
                Line("holdfast --as robo run web -- ls", 0),
                Line("holdfast run web -- echo people may", 0),
                Line("holdfast log web", 0),
            ]
        )

    assert done.returncode == 0, done.stdout
    assert "deny by webhook/no-root" in done.stdout
    assert "people may\n" in done.stdout


def test_the_answer_that_opa_gives_to_a_wrong_path_denies() -> None:
    with engine() as url, account() as somebody:
        config = somebody.home / ".config/holdfast"
        config.mkdir(mode=0o700, parents=True)
        wrong = POLICY.replace(ADDRESS, url).replace("holdfast/gate", "other")
        (config / "policy.toml").write_text(wrong)
        done = somebody.run(
            [
                Line("holdfast new --detach --name web", 0),
                Line("holdfast gate apply --yes", 0),
                Line("holdfast run web -- ls || exit 5", 0),
            ]
        )

    assert done.returncode == 5, done.stdout
    assert "no verdict from webhook" in done.stdout
