"""`holdfast hosts`: list the remote hosts that you can reach."""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor

from holdfast.cli.table import table
from holdfast.client import hosts, session_location
from holdfast.client.hosts import KnownHost
from holdfast.crypto.fingerprints import short_fingerprint
from holdfast.model.errors import HoldfastError, MalformedArgument
from holdfast.model.session_requests import Status
from holdfast.model.text import printable

TITLES = ("NAME", "FINGERPRINT", "AS", "NOW", "RELAYS")

AT_ONCE = 8
"""Hosts asked at the same time."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--names", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("words", metavar="remove NAME | rename OLD NEW", nargs="*")


def run(options: argparse.Namespace) -> int:
    """List them, or rename or remove one."""
    match options.words:
        case []:
            return _list(options)
        case ["remove", name]:
            hosts.forget(name)
        case ["rename", old, new]:
            hosts.rename(old, new)
        case words:
            said = printable(" ".join(words), 64)
            raise MalformedArgument(said, "remove NAME, or rename OLD NEW")
    return 0


def _list(options: argparse.Namespace) -> int:
    known = hosts.known()
    if options.names:
        for one in known:
            print(one.name)
        return 0
    with ThreadPoolExecutor(AT_ONCE) as together:
        now = list(together.map(_unasked if options.no_check else _reached, known))
    if options.json:
        facts = [_facts(one, told) for one, told in zip(known, now, strict=True)]
        print(json.dumps({"hosts": facts}, indent=2))
        return 0
    if not known:
        print("No host is known. `holdfast join` adds one.", file=sys.stderr)
        return 0
    for line in table(
        [TITLES, *(_row(one, told) for one, told in zip(known, now, strict=True))]
    ):
        print(line)
    return 0


def _unasked(_: KnownHost) -> str:
    return "not checked"


def _reached(one: KnownHost) -> str:
    try:
        session_location.ask_far(one.name, Status())
    except HoldfastError as error:
        return error.code
    return "reachable"


def _row(one: KnownHost, now: str) -> tuple[str, ...]:
    relays = printable(", ".join(one.relays))
    print_as = printable(one.operator, 64)
    return (one.name, short_fingerprint(one.public_key), print_as, now, relays)


def _facts(one: KnownHost, now: str) -> dict[str, object]:
    return {
        "name": one.name,
        "host": one.id,
        "fingerprint": short_fingerprint(one.public_key),
        "public_key": one.public_key.hex(),
        "operator": one.operator,
        "now": now,
        "relays": list(one.relays),
    }
