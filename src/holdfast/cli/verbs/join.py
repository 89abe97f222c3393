"""`holdfast join`: join a remote host with an invitation."""

import argparse
import json
import sys

from holdfast.client import hosts, remote
from holdfast.client.current_operator import ourselves
from holdfast.client.hosts import KnownHost
from holdfast.crypto.fingerprints import short_fingerprint, spoken_fingerprint
from holdfast.crypto.identity import Identity
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.errors import HostTaken, MalformedInvite, UsageError
from holdfast.model.ids import ActorId, host_id, parse_actor_id
from holdfast.model.text import checked_name, printable, same_name
from holdfast.wire.invites import MAX_LINK, Invitation, from_link

LINK = "/j#"
"""What the address of an invitation has before its secret."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("link", metavar="LINK")
    parser.add_argument("--name", metavar="N")
    parser.add_argument("--as-host", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Join, and store how to reach the host."""
    text = sys.stdin.read(MAX_LINK + 1) if options.link == "-" else options.link
    invitation = _invitation_in(text)
    if options.name is not None:
        _demand_free(checked_name(options.name), invitation)
    us = ourselves()
    invite = invitation.invite_id, invitation.secret
    own = Identity.from_seed(host_seed()) if options.as_host else None
    static_key, said = remote.join(
        invitation.relays, invitation.host_public, invite, own
    )
    name = options.name or _free_name(str(said.get("host")), invitation)
    known = hosts.save(
        KnownHost(
            name,
            invitation.host_public,
            static_key,
            invitation.relays,
            printable(str(said.get("operator")), 64),
            {} if own else _others(us.actor.id, said.get("actor")),
        )
    )
    if options.json:
        print(json.dumps(_facts(known, said, us.actor.id)))
        return 0
    raw = said.get("rights")
    listed = raw if isinstance(raw, list) else []
    rights = printable(", ".join(str(one) for one in listed), 300)
    if own:
        print(f"this host joined {known.name} as {known.operator}; it may {rights}")
        print(f"`holdfast move NAME {known.name}` moves a session there")
        return 0
    print(f"joined {known.name} as {known.operator}; you may {rights}")
    print(f"its key is {short_fingerprint(known.public_key)}")
    print(f"           {spoken_fingerprint(known.public_key)}")
    print(f"yours is   {short_fingerprint(us.public_key)}")
    print(f"`holdfast ls {known.name}/` lists its sessions")
    return 0


def _invitation_in(text: str) -> Invitation:
    """Return the invitation of a link, or of all that `invite` prints with it."""
    try:
        return from_link(text.strip().strip("'\""))
    except MalformedInvite:
        links = [word for word in text.split() if LINK in word]
        if len(links) != 1:
            raise
        return from_link(links[0])


def _facts(known: KnownHost, said: dict[str, object], us: str) -> dict[str, object]:
    told = {name: said.get(name) for name in ("rights", "session", "expires_ms")}
    return {
        "name": known.name,
        "host": known.id,
        "operator": known.operator,
        "actor": us,
        "fingerprint": short_fingerprint(known.public_key),
        "relays": list(known.relays),
        **told,
    }


def _others(us: ActorId, there: object) -> dict[ActorId, ActorId]:
    """Return our operator id there, if it differs from the one here."""
    return {} if there in (None, us) else {us: parse_actor_id(str(there))}


def _demand_free(name: str, invitation: Invitation) -> None:
    """Refuse a name that another host has, before the invitation is used up."""
    for one in hosts.known():
        if same_name(one.name, name) and one.public_key != invitation.host_public:
            raise HostTaken(name)


def _free_name(said: str, invitation: Invitation) -> str:
    """Return a name for a host from the name it gives itself, which may be anything."""
    try:
        name = checked_name(said)
    except UsageError:
        name = f"host-{host_id(invitation.host_public)[2:8]}"
    taken = {one.name.lower() for one in hosts.known()}
    number = 1
    wanted = name
    while wanted.lower() in taken:
        number += 1
        wanted = f"{name}-{number}"
    return wanted
