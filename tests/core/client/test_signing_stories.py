"""When a client signs, and what, as stories that the page's twin obeys too.

web/tests/protocol/signing-stories.test.ts runs the same files. A step is one of `sent`
(an input, and its kind), `booked`, `at` (the time in milliseconds, and what is signed
up to then since the last step), `linked` (and what is said again), `confirmed`,
`refused` and `counted_from`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.core.signing import ANNA, CLIENT, KEY, SESSION, given

from holdfast.core.client.signing import Pen, Signing
from holdfast.model.inputs import InputKind
from holdfast.wire.signatures import Signed

STORIES = sorted((Path(__file__).parent / "signing_stories").glob("*.json"))


def said_at(signing: Signing, now: float) -> list[int]:
    """Return up to which input it signs, as a driver has it sign."""
    said = signing.sign(Pen(KEY, ANNA)) if signing.wait(now) == 0 else None
    return [] if said is None else [said.last]


def play(signing: Signing, step: dict[str, Any], now: float) -> None:
    match step:
        case {"sent": [sequence, kind]}:
            signing.note(given(sequence, b"k", kind=InputKind(kind)))
        case {"booked": sequence}:
            signing.booked(sequence)
        case {"at": _, "says": expected}:
            assert said_at(signing, now) == expected
        case {"linked": expected}:
            said = signing.again()
            assert ([] if said is None else [said.last]) == expected
        case {"confirmed": last}:
            signing.confirmed(Signed(CLIENT, last))
        case {"refused": code}:
            signing.refused(code)
        case {"counted_from": sequence}:
            signing.counted_from(sequence)
        case _:
            pytest.fail(f"no such step: {step}")


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.stem)
def test_it_signs_as_the_story_says(story: Path) -> None:
    signing = Signing(SESSION, CLIENT, bytes(32))
    now = 0.0
    for step in json.loads(story.read_text()):
        now = step.get("at", now * 1000) / 1000
        play(signing, step, now)
        if "at" not in step:
            signing.wait(now)  # A driver looks after all that it hears.
