"""Everything that tells of events knows those of model/events.py, and no others."""

import ast
import json
import re
from pathlib import Path

import pytest
from tests.cli.test_story import Book

from holdfast.cli.event_text import happening_from
from holdfast.core.book.logbook import EntryKind
from holdfast.model.events import EventName
from holdfast.sdk.events import event_from
from holdfast.wire.codec import Message, decode
from holdfast.wire.frames import FrameReader

ROOT = Path(__file__).parents[2]
HOLDER = ROOT / "src/holdfast/holder"
PAGE = ROOT / "web/src"
EMITTED = [one for one in EventName if one.message]
SENT = json.loads((ROOT / "tests/wire/vectors/messages.json").read_text())


def sent(kind: str) -> Message:
    """Return a message of this kind, as it travels."""
    found = next(one["frame"] for one in SENT if one["kind"] == kind)
    (frame,) = FrameReader().feed(bytes.fromhex(found))
    return decode(frame)


def test_the_events_a_holder_makes_have_a_name_of_the_list() -> None:
    made = [
        call.args[0]
        for path in sorted(HOLDER.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "wire.Event"
    ]

    assert made
    assert not [one for one in made if isinstance(one, ast.Constant)]


@pytest.mark.parametrize("name", EMITTED)
def test_the_sdk_and_watch_tell_of_every_event(name: EventName) -> None:
    event = event_from(sent(name.message))
    assert event is not None
    told = happening_from(event)

    assert told is not None
    if name.message != "EVENT":
        (listed,) = [one for one in EventName if one == told.name]
        assert listed.message == name.message
        assert tuple(told.fields) == listed.fields


@pytest.mark.parametrize("name", EMITTED)
def test_the_page_hears_of_every_event(name: EventName) -> None:
    heard = (PAGE / "protocol/session-events.ts").read_text("utf-8")

    assert f'case "{name.message}":' in heard


@pytest.mark.parametrize("name", [one for one in EMITTED if one.entry])
def test_the_story_of_a_logbook_has_a_sentence_for_what_is_kept(
    name: EventName,
) -> None:
    (line,) = Book().add(EntryKind(name.entry)).told()
    page = (PAGE / "app/log-story.ts").read_text("utf-8")

    assert line.text != name.entry
    assert re.search(rf"^  {name.entry}: ", page, re.MULTILINE)
