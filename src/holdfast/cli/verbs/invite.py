"""`holdfast invite`: make a link to join this host from another machine."""

import argparse
import json
import os
import time

from holdfast.cli.invitation_text import Room, invitation_lines
from holdfast.cli.verbs.grant import duration_ms
from holdfast.client import host, keeper
from holdfast.client.authority import demand_grant
from holdfast.client.own_name import login_name
from holdfast.crypto.fingerprints import short_fingerprint
from holdfast.linux.stored import invites, relays
from holdfast.model import errors
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right, invited_rights
from holdfast.model.ids import SessionId, host_id
from holdfast.model.process_status import HostStatus, RelayStatus
from holdfast.model.session_requests import Look
from holdfast.model.text import checked_name, printable
from holdfast.wire.invites import Invitation

TTL = "1h"
"""How long a link is valid: long enough to walk to the other machine."""

PATIENCE = 5.0
"""Seconds for the host to announce a new invitation to its relays."""

_STEP = 0.02


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--as", dest="name", metavar="NAME")
    parser.add_argument(
        "--kind",
        metavar="K",
        choices=[kind.value for kind in ActorKind],
        default=ActorKind.HUMAN.value,
    )
    parser.add_argument("--can", metavar="R,R…")
    parser.add_argument("--session", metavar="S")
    parser.add_argument("--ttl", metavar="T", default=TTL)
    parser.add_argument("--for", dest="lasts", metavar="T")
    parser.add_argument("--no-qr", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--withdraw", metavar="ID")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Make an invitation, list them, or take one back."""
    if options.withdraw is not None:
        return _withdraw(options.withdraw)
    if options.list:
        return _list(as_json=options.json)
    envelope = _envelope(options)
    lasts = duration_ms(options.ttl) / 1000
    name = checked_name(options.name or f"{login_name()}-{os.urandom(2).hex()}")
    us = demand_grant("invite").actor.id
    here = _host()  # After the arguments are checked: the host may have to be started.
    key = bytes.fromhex(here.public_key)
    expires = _wall() + lasts
    made = invites.make(name, ActorKind(options.kind), envelope, expires, by=us)
    urls = _relays(here.links)
    link = Invitation(key, made.id, made.secret, urls).to_link()
    host.request(Look())
    _print(options, made, link, urls, key)
    return 0


def _print(
    options: argparse.Namespace,
    made: invites.Invite,
    link: str,
    urls: tuple[str, ...],
    us: bytes,
) -> None:
    if options.json:
        key = {"host": host_id(us), "fingerprint": short_fingerprint(us)}
        facts = {"id": made.id.hex(), "link": link, **key, **_facts(made)}
        print(json.dumps(facts))
        return
    rights = ", ".join(sorted(made.envelope.rights))
    if made.envelope.rights >= invited_rights(ActorKind.HUMAN):
        is_whole = Right.CREATE in made.envelope.rights
        rights = "do everything" if is_whole else "do everything but start sessions"
    where = "in one session" if made.envelope.session else "in every session"
    print(f"{made.name} ({made.kind}) may {rights}, {where}.")
    lines = invitation_lines(link, urls, us, options.ttl, _room(options))
    print("\n".join(lines))


def _room(options: argparse.Namespace) -> Room | None:
    """Return where a code may be drawn; None if none is wanted or nobody looks."""
    if options.no_qr or not os.isatty(1):
        return None
    size = os.get_terminal_size(1)
    return Room(size.columns, size.lines)


def _host() -> HostStatus:
    """Return the host, started if need be, once a relay of it can be reached.

    Raises:
        Unavailable: It does not start, or reaches none in time.

    """
    found = host.status() or host.start()
    deadline = time.monotonic() + PATIENCE
    while not any(link.up for link in found.links):
        if time.monotonic() >= deadline:
            first = RelayStatus("of this host", why="the host has none")
            trouble = found.links[0] if found.links else first
            raise errors.RelayUnreachable(trouble.relay, trouble.why)
        time.sleep(_STEP)
        if (answer := host.status()) is None:
            raise errors.HostDidNotStart("it went away")
        found = answer
    return found


def _relays(links: tuple[RelayStatus, ...]) -> tuple[str, ...]:
    ordered = sorted(links, key=lambda link: not link.up)
    return tuple(link.relay for link in ordered)[: relays.MAX_RELAYS]


def _envelope(options: argparse.Namespace) -> Envelope:
    kind = ActorKind(options.kind)
    rights = invited_rights(kind)
    if options.can is not None:
        words = [*filter(None, options.can.split(","))]
        named = frozenset(_right(word.removeprefix("+")) for word in words)
        is_more = bool(words) and all(word.startswith("+") for word in words)
        rights = rights | named if is_more else named
    if Right.CREATE in rights and options.session is not None:
        raise errors.MalformedArgument(
            "create", "a right in one session: it applies to a host"
        )
    if not rights:
        raise errors.MalformedArgument("--can", "called with at least one right")
    session = None
    if options.session is not None:
        found = keeper.find(options.session)
        if found.host:
            raise errors.MalformedArgument(
                printable(options.session, 64), "a session on this machine"
            )
        session = SessionId(found.id)
    if options.lasts is None:
        return Envelope(rights, session)
    return Envelope(rights, session, _wall() + duration_ms(options.lasts) / 1000)


def _right(word: str) -> Right:
    try:
        return Right(word.strip())
    except ValueError:
        raise errors.NoSuchRight(printable(word.strip(), 32)) from None


def _facts(invite: invites.Invite) -> dict[str, object]:
    return {
        "name": invite.name,
        "kind": invite.kind.value,
        "rights": sorted(invite.envelope.rights),
        "session": invite.envelope.session,
        "expires_ms": round(invite.expires_wall * 1000),
        "used_by": invite.used_by,
    }


def _list(*, as_json: bool) -> int:
    known = invites.pending(_wall())
    if as_json:
        found = [{"id": one.id.hex(), **_facts(one)} for one in known]
        print(json.dumps({"invites": found}, indent=2))
        return 0
    for one in known:
        left = round(one.expires_wall - _wall())
        how = f"used by {one.used_by}" if one.used_by else f"open for {left} s"
        print(f"{one.id.hex()}  {one.name} ({one.kind})  {how}")
    return 0


def _withdraw(text: str) -> int:
    found = [one for one in invites.pending(_wall()) if one.id.hex().startswith(text)]
    if len(found) != 1 or not text:
        raise errors.MalformedArgument(printable(text, 40), "the id of one invitation")
    invites.withdraw(found[0].id, by=demand_grant("invite --withdraw").actor.id)
    host.request(Look())
    return 0


def _wall() -> float:
    return time.time_ns() / 1e9
