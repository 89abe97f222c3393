"""The remote hosts that were joined: their keys and their relays.

One file for each, `hosts/NAME.json` in the configuration folder. The name is what
we call it, and nobody else's business; the keys are what it is. They are written
once, when we join, and never replaced: a host that shows another key is another
host (T36).
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.linux.stored import places
from holdfast.linux.stored.fact_files import read_facts, write_facts
from holdfast.model.errors import HostNotKnown, HostTaken, UsageError
from holdfast.model.ids import ActorId, HostId, host_id, parse_actor_id
from holdfast.model.text import checked_name, printable, same_name

MAX_FILE = 16 * 1024
"""Bytes of one such file; a longer one was not written by us."""

MAX_RELAYS = 8
"""Relays of one host that are tried."""

_KEY = 32


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host elsewhere: what we call it, its keys, and the way to it."""

    name: str
    public_key: bytes
    static_key: bytes
    relays: tuple[str, ...]
    operator: str = ""
    """What we are called there."""

    actors: Mapping[ActorId, ActorId] = field(default_factory=dict)
    """Our operators' ids there, where they differ from those here: it had
    rotated its key before it joined."""

    def actor_of(self, us: ActorId) -> ActorId:
        """Return the id by which the host knows one of our operators."""
        return self.actors.get(us, us)

    @property
    def id(self) -> HostId:
        """What relays call it."""
        return host_id(self.public_key)


def known() -> list[KnownHost]:
    """Return every host that we may reach, by name; damaged files are left out."""
    found = []
    for path in sorted(places.hosts_dir().glob("*.json")):
        with contextlib.suppress(HostNotKnown):
            found.append(_load(path))
    return found


def by_name(name: str) -> KnownHost:
    """Return the host that we call `name`.

    Raises:
        UsageError: There is none, or its file is damaged.

    """
    for path in places.hosts_dir().glob("*.json"):
        if same_name(path.stem, name):
            return _load(path)
    raise HostNotKnown(printable(name, 64))


def save(host: KnownHost) -> KnownHost:
    """Write a host down; return it under the name that it has here.

    A host that is known already keeps its name, and is given the new relays.

    Raises:
        UsageError: Another host has the name, or it cannot be one.

    """
    for one in known():
        if one.public_key == host.public_key:
            actors = {**one.actors, **host.actors}
            kept = replace(host, name=one.name, actors=actors)
            _write(kept)
            return kept
        if same_name(one.name, host.name):
            raise HostTaken(host.name)
    _write(replace(host, name=checked_name(host.name)))
    return host


def rename(old: str, new: str) -> KnownHost:
    """Call a host something else from now on.

    Raises:
        UsageError: There is none, or another has that name.

    """
    found = by_name(old)
    if any(same_name(one.name, new) and one != found for one in known()):
        raise HostTaken(new)
    renamed = replace(found, name=checked_name(new))
    _write(renamed)
    if renamed.name != found.name:
        _path(found.name).unlink()
    return renamed


def forget(name: str) -> None:
    """Make a host unknown here, even if its file is damaged.

    Raises:
        UsageError: There is none.

    """
    for path in places.hosts_dir().glob("*.json"):
        if same_name(path.stem, name):
            path.unlink()
            return
    raise HostNotKnown(printable(name, 64))


def _path(name: str) -> Path:
    return places.hosts_dir() / f"{name}.json"


def _write(host: KnownHost) -> None:
    facts = {
        "host": host.id,
        "public_key": host.public_key.hex(),
        "static_key": host.static_key.hex(),
        "relays": list(host.relays[:MAX_RELAYS]),
        "operator": host.operator,
        "actors": dict(host.actors),
    }
    write_facts(_path(host.name), facts)


def _load(path: Path) -> KnownHost:
    try:
        facts = read_facts(path, MAX_FILE)
        found = KnownHost(
            checked_name(path.stem),
            bytes.fromhex(facts["public_key"]),
            bytes.fromhex(facts["static_key"]),
            tuple(str(one) for one in facts["relays"])[:MAX_RELAYS],
            str(facts.get("operator") or ""),
            _ids(facts.get("actors") or {}),
        )
        is_right = facts["host"] == found.id
    except (OSError, ValueError, KeyError, TypeError, UsageError):
        raise HostNotKnown(printable(path.stem, 64)) from None
    if not is_right or {len(found.public_key), len(found.static_key)} != {_KEY}:
        raise HostNotKnown(printable(path.stem, 64))
    return found


def _ids(facts: Mapping[str, str]) -> dict[ActorId, ActorId]:
    return {parse_actor_id(us): parse_actor_id(there) for us, there in facts.items()}
