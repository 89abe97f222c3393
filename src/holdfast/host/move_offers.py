"""What stands in the way of a session that another host wants to bring here."""

import os

import msgspec

from holdfast.core.capsule.manifest import check_machine
from holdfast.host.arrival_policy import verdict_on
from holdfast.host.guests import Guest
from holdfast.linux import cgroups, exec_filter
from holdfast.linux.criu.program import find
from holdfast.linux.image_facts import this_machine
from holdfast.linux.keeper_requests import ask_keeper
from holdfast.linux.stored import relays
from holdfast.linux.stored.config import settings
from holdfast.linux.stored.image_store import images_folder
from holdfast.model.errors import ImageMisfit, MalformedMessage
from holdfast.model.session_record import SessionRecord, listed_in
from holdfast.model.session_requests import ListSessions, OfferMove
from holdfast.model.text import printable, same_name
from holdfast.model.verdicts import Verdict
from holdfast.wire.image_manifest import Machine, Manifest

ROOM = 64 * 1024 * 1024
"""Bytes of the disk that are left to others."""

MAX_BLOCKERS = 64

Blocker = tuple[str, str]
"""What is in the way, and the way out."""


def blockers(guest: Guest, asked: OfferMove) -> list[Blocker]:
    """Return what stands in the way here, and what to do about each.

    Raises:
        PeerError: What is said of the other machine is nonsense.
        Unavailable: The keeper does not answer.

    """
    found = [
        *_of_machine(asked),
        *_of_relay(asked),
        *_of_paths(asked),
        *_of_room(asked),
        *_of_names(asked),
        *_of_policy(guest, asked),
    ]
    return found[:MAX_BLOCKERS]


def misfits(manifest: Manifest) -> list[Blocker]:
    """Return why an image could not go on here, whatever else is on this machine."""
    return _of_kind(manifest.machine, rootless=manifest.capsule.rootless)


def _of_machine(asked: OfferMove) -> list[Blocker]:
    try:
        theirs = msgspec.convert(asked.machine, Machine)
    except (msgspec.ValidationError, TypeError) as error:
        raise MalformedMessage("machine", printable(str(error))) from None
    return _of_kind(theirs, rootless=asked.rootless)


def _of_kind(theirs: Machine, *, rootless: bool) -> list[Blocker]:
    program = find().program
    if program is None:
        return [("there is no CRIU", "install it there; `holdfast doctor` says how")]
    major, minor, patch = (*program.version, 0, 0, 0)[:3]
    found = []
    try:
        check_machine(theirs, this_machine(major * 10000 + minor * 100 + patch))
    except ImageMisfit as error:
        found.append((str(error), "move it to a machine like the one it runs on"))
    is_root = exec_filter.is_privileged()
    if rootless is is_root:
        ours = "root" if is_root else "an ordinary user"
        found.append((f"its host runs as {ours}", "move it to a host of the same kind"))
    if cgroups.ground().folder is None:
        way = "see `holdfast doctor` there"
        found.append((f"a fence needs a cgroup, and {cgroups.ground().why_not}", way))
    return found


def _of_relay(asked: OfferMove) -> list[Blocker]:
    if asked.relay in relays.written_down():
        return []
    relay = printable(asked.relay, 100)
    return [(f"its host does not use {relay}", f"`holdfast up --relay {relay}` there")]


def _of_paths(asked: OfferMove) -> list[Blocker]:
    return [
        (f"{printable(path, 200)} is not there", "put it there, at the same path")
        for path in asked.paths
        if not os.path.lexists(path)
    ]


def _of_room(asked: OfferMove) -> list[Blocker]:
    home = os.statvfs(images_folder())
    free, limit = home.f_bavail * home.f_frsize - ROOM, settings().images_size
    mb = 1_000_000
    if asked.size > free:
        way = "`holdfast images rm` there makes room"
        return [(f"it takes {asked.size // mb} MB, and {free // mb} are free", way)]
    if asked.size > limit:
        way = "raise `images.size` there"
        return [(f"it takes {asked.size // mb} MB, and {limit // mb} are allowed", way)]
    return []


def _of_names(asked: OfferMove) -> list[Blocker]:
    for facts in listed_in(ask_keeper(ListSessions())):
        one = SessionRecord.from_facts(facts)
        if one.id == asked.id:
            return [("it is there already", "`holdfast ls` there shows it")]
        if one.exit is None and same_name(one.name, asked.name):
            return [(f"a session there is called {one.name}", "rename one of the two")]
    return []


def _of_policy(guest: Guest, asked: OfferMove) -> list[Blocker]:
    said = verdict_on(guest, asked)
    if said.verdict is Verdict.ALLOW:
        return []
    # Nobody approves a session that stands still meanwhile: it would wait for ever.
    what = "denies it" if said.verdict is Verdict.DENY else "would have to be asked"
    why = f": {printable(said.why, 200)}" if said.why else ""
    told = f"its policy {what} by {printable(said.rule, 100)}{why}"
    return [(told, 'allow it there by a rule with input = "start"')]
