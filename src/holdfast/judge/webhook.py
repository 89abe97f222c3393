"""Asks a policy engine over HTTP for its verdict.

One POST of {"input": document}, the form that OPA expects; no redirect is followed
and no proxy used. The answer is {"result": …}, as OPA gives it, or the same
without "result"; its content is what a plug-in may return. Anything else is a failure:
another status, no JSON, an answer that is too long, or {}, which is what OPA says when
the path names no decision.
"""

import http.client
import json
import ssl
from urllib.parse import urlsplit

from holdfast.core.policy.policy import Judgement
from holdfast.core.policy.rules import Webhook
from holdfast.judge.plugins import Failed, judgement_from

MAX_ANSWER = 64 * 1024
"""Bytes of an answer: a verdict, a rule and a sentence have a hundredth."""

_SOURCE = "webhook"


def ask_webhook(hook: Webhook, question: dict[str, object]) -> Judgement | None:
    """Return what the webhook says, or None if it has no opinion.

    `hook.timeout` is for each step of the connection: the caller is
    killed if all of them together take too long.

    Raises:
        Failed: It cannot be reached, or what it says is no answer.

    """
    try:
        status, raw = _post(hook, json.dumps({"input": question}).encode())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Failed(f"cannot reach its webhook: {error}") from error
    if status != http.client.OK:
        raise Failed(f"got status {status} from its webhook")
    if len(raw) > MAX_ANSWER:
        raise Failed("got too long an answer from its webhook")
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError):
        raise Failed("got no JSON from its webhook") from None
    said = answer.get("result", answer) if type(answer) is dict else answer
    return judgement_from(said, _SOURCE)


def _post(hook: Webhook, body: bytes) -> tuple[int, bytes]:
    url = urlsplit(hook.url)
    connection = _connection(url.scheme, url.netloc, hook.timeout)
    path = url.path or "/"
    try:
        connection.request(
            "POST",
            f"{path}?{url.query}" if url.query else path,
            body,
            {"Content-Type": "application/json", "Accept": "application/json"},
        )
        response = connection.getresponse()
        return response.status, response.read(MAX_ANSWER + 1)
    finally:
        connection.close()


def _connection(scheme: str, place: str, timeout: float) -> http.client.HTTPConnection:
    if scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(place, timeout=timeout, context=context)
    return http.client.HTTPConnection(place, timeout=timeout)
