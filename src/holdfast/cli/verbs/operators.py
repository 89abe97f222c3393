"""`holdfast operators`: list the operators of this machine, add or remove one."""

import argparse
import json
import sys

from holdfast.cli.table import table
from holdfast.client import host
from holdfast.client.authority import demand_grant
from holdfast.client.current_operator import enrol, ourselves
from holdfast.client.own_name import login_name
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import default_rights, invited_rights
from holdfast.model.errors import MalformedArgument, OperatorTaken, UnknownOperator
from holdfast.model.session_requests import Look
from holdfast.model.text import checked_name, printable

TITLES = ("NAME", "KIND", "FINGERPRINT", "FROM", "")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--kind", metavar="K", choices=[kind.value for kind in ActorKind]
    )
    parser.add_argument("--names", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--force", action="store_true")
    parser.add_argument(
        "action",
        metavar="add|remove|rotate",
        nargs="?",
        choices=("add", "remove", "rotate"),
    )
    parser.add_argument("name", metavar="NAME", nargs="?")


def run(options: argparse.Namespace) -> int:
    """List them, or change them."""
    if options.names:
        for one in operators.enrolled():
            print(one.actor.name)
        return 0
    if options.action == "rotate" and options.name is None:
        return _rotate(force=options.force, as_json=options.json)
    if (options.action is None) != (options.name is None) or options.action == "rotate":
        given = options.action or ""
        raise MalformedArgument(printable(given, 64), "add NAME or remove NAME")
    if options.kind is not None and options.action != "add":
        raise MalformedArgument(f"--kind {options.kind}", "allowed without `add`")
    if options.action == "add":
        _print([_add(options.name, options.kind)], as_json=options.json)
    elif options.action == "remove":
        _remove(options.name)
    else:
        _list(as_json=options.json)
    return 0


def _list(*, as_json: bool) -> None:
    us = ourselves()  # The caller is added, and so is listed.
    _print(operators.enrolled(), as_json=as_json, us=us.actor.id)
    for error in operators.damaged():
        print(f"holdfast: skipped: {error}", file=sys.stderr)


def _rotate(*, force: bool, as_json: bool) -> int:
    from holdfast.client.key_rotation import rotate_us  # noqa: PLC0415  # slow to load

    demand_grant("operators rotate", about_us=True)
    rotated, untold = rotate_us(force=force)
    if as_json:
        facts = {"actor": rotated.actor.id, "public_key": rotated.public_key.hex()}
        print(json.dumps({**facts, "untold": untold}))
        return 0
    print(f"{rotated.actor.shown()} has a new key, and is the same operator")
    for name, why in untold.items():
        print(f"{name} was not told, and has to invite you again: {printable(why)}")
    return 0


def _add(name: str, kind: str | None) -> Enrolled:
    if operators.by_name(checked_name(name)) is not None:
        raise OperatorTaken(name)
    us = demand_grant("operators add").actor.id
    return enrol(name, ActorKind(kind or ActorKind.AGENT), by=us)


def _remove(name: str) -> None:
    wanted = name.removeprefix("@")
    found = operators.by_name(wanted)
    if found is None:
        raise UnknownOperator(printable(wanted, 64))
    if found.actor.name == login_name():
        raise MalformedArgument(wanted, "an operator to remove: it is yourself")
    operators.forget(wanted, by=demand_grant("operators remove").actor.id)
    host.request(Look())


def _print(known: list[Enrolled], *, as_json: bool, us: str = "") -> None:
    if as_json:
        print(json.dumps({"operators": [_facts(one, us) for one in known]}, indent=2))
        return
    for line in table([TITLES, *(_row(one, us) for one in known)]):
        print(line)


def _row(one: Enrolled, us: str) -> tuple[str, ...]:
    actor = one.actor
    mark = "you act as this one" if actor.id == us else _bounds(one)
    return (actor.name, actor.kind.value, actor.compared(), _origin(one), mark)


def _origin(one: Enrolled) -> str:
    """Return where an operator comes from: this machine, or an invitation."""
    if one.terms is not None:
        return f"elsewhere, by invitation {one.terms.invite[:8]}"
    return "here" if one.is_at_home else "elsewhere"


def _bounds(one: Enrolled) -> str:
    """Return the rights an invitation gave, if they are not all there are."""
    promised = one.promised
    if promised is None:
        return ""
    kind, rights = one.actor.kind, ", ".join(sorted(promised.rights))
    told = f"may {rights}"
    if promised.rights == default_rights(kind, began_it=False):
        told = f"as any {kind}"
    elif promised.rights == invited_rights(kind):
        told = f"as any {kind}, but may not start sessions"
    where = f" in {promised.session}" if promised.session is not None else ""
    return f"{told}{where}"


def _facts(one: Enrolled, us: str) -> dict[str, object]:
    actor = one.actor
    return {
        "name": actor.name,
        "kind": actor.kind.value,
        "actor": actor.id,
        "fingerprint": actor.fingerprint(),
        "public_key": one.public_key.hex(),
        "us": actor.id == us,
        "from": "invite" if one.terms is not None else "here",
        **({} if one.terms is None else operators.to_facts(one.terms.envelope)),
    }
