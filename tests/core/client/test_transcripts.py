"""What a client hears and must send, as stories that the page's twin obeys too.

web/tests/protocol/transcripts.test.ts runs the same files. A step is one of `link`
(what to attach with), `hear` (and which input it settles), `submit` (and what goes
out), `open` (what a new link would send again) and `knows`.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.core.client.attachment import Attachment
from holdfast.model.ids import ClientId, SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import KINDS, Message
from holdfast.wire.frames import FrameKind

STORIES = sorted((Path(__file__).parent / "transcripts").glob("*.json"))


def filled(value: Any) -> Any:  # noqa: ANN401  # as JSON is
    """Turn {"bytes": "…"} into bytes, wherever it stands."""
    match value:
        case {"bytes": str(raw)}:
            return bytes.fromhex(raw)
        case dict():
            return {name: filled(one) for name, one in value.items()}
        case list():
            return [filled(one) for one in value]
        case _:
            return value


def plain(message: Message) -> object:
    return msgspec.to_builtins(message, builtin_types=(bytes,))


def play(attachment: Attachment, step: dict[str, Any]) -> None:
    match step:
        case {"link": expected}:
            assert plain(attachment.attach(None, keyframe=True)) == expected
        case {"hear": {"is": kind, "body": body}}:
            message = msgspec.convert(body, KINDS[FrameKind[kind]])
            answer = attachment.take(message).answer
            error = None if answer is None else answer[1]
            code = None if error is None else error.code
            told = answer and {"sequence": answer[0], "code": code}
            assert told == step.get("answer")
        case {"submit": {"kind": kind, "payload": payload}, "sends": expected}:
            assert plain(attachment.submit(InputKind(kind), payload)) == expected
        case {"open": expected}:
            assert [one.sequence for one in attachment.open] == expected
        case {"knows": expected}:
            assert {name: getattr(attachment, name) for name in expected} == expected
        case _:
            pytest.fail(f"no such step: {step}")


@pytest.mark.parametrize("story", STORIES, ids=[one.stem for one in STORIES])
def test_a_client_sends_what_the_story_says(story: Path) -> None:
    first, *steps = filled(json.loads(story.read_text()))
    asked = first["link"]
    session, client = SessionId(asked["session"]), ClientId(asked["client"])
    attachment = Attachment(session, client, bytes(32))

    for step in (first, *steps):
        play(attachment, step)
