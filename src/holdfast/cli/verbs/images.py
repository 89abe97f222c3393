"""`holdfast images`: list the images of sessions, and remove some."""

import argparse
import json
import time

from holdfast.cli.table import table
from holdfast.client import copies, image_transfer, images
from holdfast.linux.stored import kept_copies
from holdfast.linux.stored.image_store import Listed
from holdfast.model.errors import ImageNotFound, MalformedArgument
from holdfast.model.image_copy import ImageCopy
from holdfast.model.settings import bytes_told
from holdfast.model.text import printable, same_name

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
MAX_DIGITS = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("words", metavar="NAME | rm IMAGE", nargs="*")
    parser.add_argument("--older", metavar="AGE")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--to", metavar="HOST")
    parser.add_argument("--from", metavar="HOST", dest="sender")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """List them, or remove one."""
    match options.words:
        case ["rm", *names] if options.all or options.older is not None:
            _remove_some(names, options)
        case ["key" | "export" | "import" | "verify" | "send", *_]:
            _transfer(options)
        case ["rm", first, *others]:
            for image in (first, *others):
                images.remove(image)
        case [] | [_] if not (options.all or options.older is not None):
            _list(options.words, as_json=options.json)
        case _:
            raise MalformedArgument("images", "a session, or `rm` and images")
    return 0


def _transfer(options: argparse.Namespace) -> None:
    """Seal an image for another host, or take one that was sealed for us."""
    match options.words:
        case ["key"]:
            print(image_transfer.our_key())
        case ["export", image, path] if options.to is not None:
            size = image_transfer.export(image, path, options.to)
            if path != image_transfer.STANDARD:
                print(
                    f"{path}: {size / 1_000_000:.1f} MB, encrypted for that host only"
                )
        case ["send", image] if options.to is not None:
            _send(image, options.to, as_json=options.json)
        case ["import", path] if options.sender is not None:
            name = image_transfer.take(path, options.sender)
            print(
                f"{name} was imported; it can be listed and verified, but not restored."
            )
        case ["verify", name] if options.sender is not None:
            image_transfer.verify(name, options.sender)
            maker = image_transfer.maker_of(options.sender)
            print(f"{name} is unchanged, and was made by {maker}.")
        case _:
            what = (
                "`send IMAGE --to HOST`, `export IMAGE FILE --to HOST`,"
                " or `import FILE --from HOST`"
            )
            raise MalformedArgument("images", what)


def _send(image: str, to: str, *, as_json: bool) -> None:
    size = copies.send(image, to, _silent)
    if as_json:
        print(json.dumps({"size": size, "host": to.removeprefix("@")}))
    else:
        where = printable(to.removeprefix("@"))
        print(f"{where} keeps a copy: {size / 1_000_000:.1f} MB.")


def _silent(_sent: int, _all: int) -> None:
    pass


def _remove_some(names: list[str], options: argparse.Namespace) -> None:
    if options.all and options.older is not None:
        raise MalformedArgument("--older", "used without --all")
    before = time.time() + 1  # noqa: TID251  # images are dated by the wall clock
    if options.older is not None:
        before = time.time() - age_from(options.older)  # noqa: TID251  # ditto
    if len(names) > 1:
        raise MalformedArgument("rm", "called with one session, --all or --older")
    session = names[0] if names else ""
    removed, kept = images.remove_some(session, int(before * 1000))
    if options.json:
        print(json.dumps({"removed": [str(one) for one in removed], "kept": kept}))
        return
    for one in removed:
        print(f"removed {one}")
    if kept:
        print(f"{kept} kept: a stopped session needs it, or it is in use")


def age_from(text: str) -> int:
    """Return the seconds in an age such as 30m, 12h, 7d or 4w.

    Raises:
        UsageError: It is none.

    """
    digits, unit = text[:-1], text[-1:]
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= MAX_DIGITS
    if not is_number or unit not in UNITS:
        raise MalformedArgument("--older", "an age such as 12h or 7d")
    return int(digits) * UNITS[unit]


def _list(words: list[str], *, as_json: bool) -> None:
    found = _listed(words)
    if as_json:
        told = images.room(found)
        bounds = {"keep": told.kept, "size": told.limit}
        listed = [facts(one) for one in found]
        kept = [] if words else images.imported()
        whole = {"images": listed, "size": told.size, "bounds": bounds}
        others = [one._asdict() for one in _copies(words)]
        print(json.dumps({**whole, "imported": kept, "copies": others}))
        return
    if found:
        head = ("IMAGE", "SESSION", "MADE", "SIZE", "LABEL")
        print("\n".join(table([head, *(_row(one) for one in found)])))
        print(_total(images.room(found)))
    _list_copies(_copies(words))
    for name in [] if words else images.imported():
        print(f"{name}: imported; it can be verified, but not restored")


def _listed(words: list[str]) -> list[Listed]:
    try:
        return images.listed(words[0] if words else "")
    except ImageNotFound:
        if not _copies(words):
            raise
        return []


def _copies(words: list[str]) -> list[ImageCopy]:
    """Return the copies that other hosts have sent: all, or of one session."""
    return [
        one
        for one in kept_copies.listed()
        if not words or words[0] == one.session or same_name(one.name, words[0])
    ]


def _list_copies(found: list[ImageCopy]) -> None:
    if not found:
        return
    rows = [("COPY", "SESSION", "MADE", "SIZE", "FROM")]
    for one in found:
        made = time.localtime(one.made_ms / 1000)
        rows.append(
            (
                one.image,
                printable(one.name),
                time.strftime("%Y-%m-%d %H:%M:%S", made),
                f"{one.size / 1_000_000:.1f} MB",
                printable(one.host_name) or one.host,
            )
        )
    print("\n".join(table(rows)))
    print("`holdfast restore` continues one here, once its host's lease has run out.")


def _total(room: images.Room) -> str:
    noun = "image" if room.number == 1 else "images"
    size = f"{room.size / 1_000_000:.1f} MB"
    return (
        f"{room.number} {noun}, {size}; kept: all with a label, {room.kept} others of a"
        f" session, {bytes_told(room.limit)} in all"
    )


def facts(one: Listed) -> dict[str, object]:
    """Return what JSON says of an image."""
    told: dict[str, object] = {
        "image": str(one.name),
        "session": one.name.session,
        "number": one.name.number,
        "problem": one.problem,
    }
    if one.manifest is not None:
        told |= {
            "label": one.manifest.label,
            "made_ms": one.manifest.made_ms,
            "incarnation": one.manifest.incarnation,
            "once": one.manifest.once,
            "size": images.size_of(one),
        }
    return told


def _row(one: Listed) -> tuple[str, ...]:
    name = printable(images.called(one.name.session))
    if one.manifest is None:
        return (str(one.name), name, "", "", printable(one.problem))
    made = time.localtime(one.manifest.made_ms / 1000)
    size = images.size_of(one) / 1_000_000
    return (
        str(one.name),
        name,
        time.strftime("%Y-%m-%d %H:%M:%S", made),
        f"{size:.1f} MB",
        one.manifest.label,
    )
