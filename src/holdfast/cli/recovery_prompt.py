"""Asks whether to recover or restore a lost or stopped session on attach."""

import os
import sys

from holdfast.cli.terminal import demand_terminal
from holdfast.cli.verbs import recover
from holdfast.cli.verbs.new import await_approval
from holdfast.client import keeper
from holdfast.client.images import named, whole_image
from holdfast.client.lost_sessions import ago, find_lost, restore, span
from holdfast.core.client.timeouts import APPROVAL
from holdfast.linux.stored import config
from holdfast.model.lost_record import LostRecord
from holdfast.model.session_record import SessionRecord

FROM_IMAGE, AGAIN = "i", "s"


def come_back(text: str) -> SessionRecord | None:
    """Bring back a session that was lost or stopped; None if nobody wants that.

    Raises:
        HoldfastError: It cannot be brought back.

    """
    one = find_lost(text)
    how = _wanted(one)
    if not how:
        return None
    demand_terminal()  # Before anything is started.
    if how == FROM_IMAGE:
        return keeper.find(_restored(one))
    return keeper.find(recover.begin(one, None, timeout=APPROVAL, attaches=True))


def _restored(one: LostRecord) -> str:
    """Restore it from an image, say so, and return its id."""
    image = whole_image(f"{one.id}.{one.image or one.saved}")
    made = restore(image.session, image.number, named(image))
    if made.state == "starting":
        await_approval(made, "", APPROVAL)
    print(f"{one.label} was restored from {image} (incarnation {made.incarnation}).")
    return made.id


def _wanted(one: LostRecord) -> str:
    """Return how it is wanted back: by the settings, or by a person at a terminal."""
    is_lost = not one.image
    if is_lost and config.mentions(b"recover") and config.settings().recovers:
        return AGAIN
    if not (os.isatty(0) and os.isatty(1)):
        return ""
    if one.image:
        question = f"{one.label} was saved to disk {ago(one)} ago. Restore it? y/N: "
        return FROM_IMAGE if _answer(question) in ("y", "yes") else ""
    was = f"{one.label} was lost {ago(one)} ago"
    if not one.saved or one.host:
        question = f"{was}. Start it again? y/N: "
        return AGAIN if _answer(question) in ("y", "yes") else ""
    before = span(max(0, one.seen_ms - one.saved_ms) / 1000)
    answer = _answer(
        f"{was}; its newest image was made {before} before that.\n"
        "i: restore the image   s: start it again, without its memory   "
        "Enter: neither\n? "
    )
    return answer if answer in (FROM_IMAGE, AGAIN) else ""


def _answer(question: str) -> str:
    print(question, end="", flush=True)
    return sys.stdin.readline().strip().lower()
