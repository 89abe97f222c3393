"""Restores a session from the copy that a host keeps, and says what was lost."""

import argparse
import json
import sys
import time
from collections.abc import Iterator

from holdfast.cli.verbs.new import await_approval
from holdfast.client import keeper, restored_copies
from holdfast.client.lost_sessions import span
from holdfast.model.errors import ImageNotFound, MalformedArgument
from holdfast.model.image_copy import ImageCopy
from holdfast.model.session_requests import Created
from holdfast.model.text import checked_name, printable, shown_name


def elsewhere(options: argparse.Namespace) -> int:
    """Restore it at another host, from the copy that it keeps."""
    if options.as_new:
        raise MalformedArgument("--on", "used without --as-new")
    where = options.on.removeprefix("@")
    name, files = _name(options), options.open_files
    made, copy = restored_copies.restore_at(where, options.image, name, files)
    return _say_restored(made, copy, options, f"{where}/")


def here(options: argparse.Namespace) -> int:
    """Restore it from a copy that another host has sent here, if there is one."""
    if options.as_new:
        raise ImageNotFound(options.image)
    made, copy = restored_copies.restore(
        options.image, _name(options), options.open_files
    )
    status = _say_restored(made, copy, options, "")
    if options.detach or options.json:
        return status
    from holdfast.cli.attached import show  # noqa: PLC0415  # not for --detach

    return show(keeper.find(made.id))


def _name(options: argparse.Namespace) -> str:
    return checked_name(options.name) if options.name else ""


def _say_restored(
    made: Created, copy: ImageCopy, options: argparse.Namespace, where: str
) -> int:
    """Say that it goes on, how old the image is, and what was lost since."""
    if made.state == "starting" and not where:
        await_approval(made, "", options.timeout)
    age = time.time() - copy.made_ms / 1000  # noqa: TID251  # for display
    if options.json:
        facts = {"id": made.id, "name": made.name, "incarnation": made.incarnation}
        lost = {"age_s": round(age, 1), **copy._asdict()}
        print(json.dumps({**facts, "copy": lost}))
        return 0
    label = f"{where}{shown_name(made.name)}"
    print(f"{label} was restored (incarnation {made.incarnation}).")
    for line in lost_since(copy, age):
        print(line)
    if where or options.detach:
        print(f"`holdfast attach {label}` shows it.")
    sys.stdout.flush()
    return 0


def lost_since(copy: ImageCopy, age: float) -> Iterator[str]:
    """Say from what a session goes on that its host has not handed over."""
    host = printable(copy.host_name, 64) or copy.host
    yield f"It goes on from an image that {host} made {span(max(0.0, age))} ago."
    undone = ""
    if copy.known > copy.through:
        undone = f" ({copy.known - copy.through} of them are known here)"
    yield (
        f"What came after that is lost: entries of the logbook after {copy.through}"
        f"{undone}, and what was printed after byte {copy.printed}."
    )
