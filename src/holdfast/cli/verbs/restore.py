"""`holdfast restore`: continue a session from an image."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from holdfast.core.client.timeouts import APPROVAL
from holdfast.model.errors import ImageNotFound, MalformedArgument

if TYPE_CHECKING:
    from holdfast.linux.stored.image_store import ImageName
    from holdfast.model.session_requests import Created


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("image", metavar="IMAGE", nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--as-new", action="store_true")
    parser.add_argument("-d", "--detach", action="store_true")
    parser.add_argument("-n", "--name", metavar="N")
    parser.add_argument(
        "--files", choices=("put-back", "as-is"), default="", dest="open_files"
    )
    parser.add_argument("--on", metavar="HOST")
    parser.add_argument("--timeout", metavar="S", type=float, default=APPROVAL)
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Restore it, then attach to it or say how to; or all that were stopped."""
    if options.all or options.image is None:
        return _all(options)
    if options.on is not None:
        from holdfast.cli import restored_copy  # noqa: PLC0415  # rarely needed

        return restored_copy.elsewhere(options)
    if not options.detach and not options.json:
        from holdfast.cli.terminal import demand_terminal  # noqa: PLC0415  # not needed

        demand_terminal()  # Before anything is started.
    from holdfast.client.images import whole_image  # noqa: PLC0415  # after the words

    try:
        image = whole_image(options.image)
    except ImageNotFound:
        image = None
    if image is None or _is_older_than_copy(image, options):
        from holdfast.cli import restored_copy  # noqa: PLC0415  # rarely needed

        return restored_copy.here(options)
    return _restored(image, options)


def _is_older_than_copy(image: "ImageName", options: argparse.Namespace) -> bool:
    if options.as_new or options.image == str(image):
        return False
    from holdfast.client.restored_copies import is_there_newer  # noqa: PLC0415  # after the words

    return is_there_newer(image)


def _restored(image: "ImageName", options: argparse.Namespace) -> int:
    from holdfast.cli.verbs.new import await_approval  # noqa: PLC0415  # after the words
    from holdfast.client.images import gone  # noqa: PLC0415  # ditto
    from holdfast.model.text import shown_name  # noqa: PLC0415  # ditto

    missing = gone(image) if options.open_files == "put-back" else []
    made = _begun(image, options)
    if made.state == "starting":
        await_approval(made, "", options.timeout)
    if options.json:
        facts = {"id": made.id, "name": made.name, "pid": made.pid}
        print(json.dumps({**facts, "incarnation": made.incarnation}))
        return 0
    attaches = not options.detach
    label = shown_name(made.name)
    hint = "" if attaches else f" `holdfast attach {label}` shows it."
    print(f"{label} was restored from {image} (incarnation {made.incarnation}).{hint}")
    if options.open_files == "put-back":
        print("".join(f"{line}\n" for line in put_back(image, made, missing)), end="")
    sys.stdout.flush()
    if not attaches:
        return 0
    from holdfast.cli.attached import show  # noqa: PLC0415  # not for --detach
    from holdfast.client import keeper  # noqa: PLC0415  # ditto

    return show(keeper.find(made.id))


def _all(options: argparse.Namespace) -> int:
    """Restore every session that was stopped."""
    if not options.all:
        raise MalformedArgument("restore", "an image, or --all")
    if options.image is not None or options.as_new or options.name or options.on:
        raise MalformedArgument("--all", "used alone, or with --files and --json")
    from holdfast.cli.restored_sessions import restore_all  # noqa: PLC0415  # rare

    return restore_all(options.open_files, as_json=options.json)


def _begun(image: "ImageName", options: argparse.Namespace) -> "Created":
    """Have it go on, as its next incarnation or as a branch."""
    from holdfast.client import branches, lost_sessions  # noqa: PLC0415  # after the words
    from holdfast.client.images import named  # noqa: PLC0415  # ditto
    from holdfast.model.text import checked_name  # noqa: PLC0415  # ditto

    name = checked_name(options.name) if options.name else ""
    if options.as_new:
        return branches.branch(image, name or branches.free_name(named(image)))
    wanted, files = name or named(image), options.open_files
    return lost_sessions.restore(image.session, image.number, wanted, files)


def put_back(image: "ImageName", made: "Created", missing: list[str]) -> Iterator[str]:
    """Say which files were put back, and where what was there is now."""
    from holdfast.client.images import kept_beside  # noqa: PLC0415  # not for most
    from holdfast.model.text import printable  # noqa: PLC0415  # ditto

    for path, kept in kept_beside(image, made.incarnation):
        yield f"{printable(path)} was put back; the newer one is {printable(kept)}"
    for path in missing:
        yield f"{printable(path)} was put back; it had been deleted"
