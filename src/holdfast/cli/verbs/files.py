"""`holdfast files`: list, apply or discard a session's own file changes."""

import argparse
import json
from collections.abc import Iterable

from holdfast.cli.table import table
from holdfast.client import own_files
from holdfast.core.capsule.changes import Change, Kind, counts
from holdfast.linux.stored import own_changes
from holdfast.model.errors import MalformedArgument
from holdfast.model.ids import SessionId
from holdfast.model.text import printable

_MARKS = {Kind.MADE: "+", Kind.CHANGED: "~", Kind.DELETED: "-"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("name", metavar="NAME", nargs="?")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--diff", action="store_true")
    what.add_argument("--apply", action="store_true")
    what.add_argument("--discard", action="store_true")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """List, show, apply or discard the changes."""
    if options.force and not options.apply:
        raise MalformedArgument("--force", "choice without --apply")
    if options.name is None:
        if options.diff or options.apply or options.discard:
            raise MalformedArgument("NAME", "session: whose files?")
        _list(as_json=options.json)
        return 0
    session = own_files.meant(options.name)
    if options.discard:
        own_files.discard(session)
    elif options.diff:
        _show_text(own_changes.diff(session))
    elif options.apply:
        found = own_files.apply(session, forced=options.force)
        _tell_applied(session, found, as_json=options.json)
    else:
        _tell(session, own_changes.changes(session), as_json=options.json)
    return 0


def facts(found: Iterable[Change]) -> list[dict[str, object]]:
    """Return what JSON says of changes; bytes that are no text are escaped."""
    return [
        {
            "path": one.path.encode(errors="surrogateescape").decode(
                errors="backslashreplace"
            ),
            "kind": one.kind.value,
            "sort": one.sort.value,
            "size_before": one.sizes[0],
            "size": one.sizes[1],
            "conflict": one.is_conflict,
        }
        for one in found
    ]


def _list(*, as_json: bool) -> None:
    found = own_files.listed()
    if as_json:
        told = [{"session": one, **numbers} for one, numbers in found]
        print(json.dumps({"sessions": told}))
    elif found:
        head = ("NAME", "ID", "MADE", "CHANGED", "DELETED")
        rows = [
            (printable(own_files.called(one)), one, *map(str, numbers.values()))
            for one, numbers in found
        ]
        print("\n".join(table([head, *rows])))


def _tell(session: SessionId, found: tuple[Change, ...], *, as_json: bool) -> None:
    is_part = own_changes.is_applying(session)
    if as_json:
        told = {"session": session, "changes": facts(found), "applying": is_part}
        print(json.dumps(told))
        return
    for one in found:
        conflict = "!" if one.is_conflict else " "
        slash = "/" if one.sort.value == "folder" else ""
        print(f"{_MARKS[one.kind]}{conflict} {printable(one.path)}{slash}")
    if is_part:
        print("Applying was interrupted; `--apply` finishes it.")


def _tell_applied(
    session: SessionId, found: tuple[Change, ...], *, as_json: bool
) -> None:
    if as_json:
        print(json.dumps({"session": session, "applied": facts(found)}))
        return
    told = counts(found)
    made, changed, deleted = told["made"], told["changed"], told["deleted"]
    print(f"applied: {made} made, {changed} changed, {deleted} deleted")


def _show_text(text: str) -> None:
    if text:
        # A file may hold what would move the cursor, and worse.
        print("\n".join(printable(line, 4096) for line in text.split("\n")))
