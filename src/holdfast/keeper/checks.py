"""Checks packets from others before anything of them is kept.

A process that can send us packets has our uid and could do worse; but a client with a
bug must not be able to break the list for all clients, or to end the keeper.
"""

import json
import os
import stat
from collections.abc import Mapping

from holdfast.linux import packets
from holdfast.model.errors import MalformedMessage, RequestTooLarge
from holdfast.model.keeper_messages import Changed
from holdfast.model.session_record import HeldRecord, SessionRecord, as_facts, fields_of
from holdfast.model.session_requests import Change, Keep, Rename
from holdfast.model.text import checked_name

Facts = dict[str, object]

ROOM = 2048
"""Bytes of a packet that holders and the keeper add to what a client asked for."""

MAX_PAGE = 48 * 1024
"""Bytes of facts in one packet, by which a list is cut."""

MAX_SESSIONS = 4000
"""Sessions kept if nobody says otherwise: four times what is promised to work."""

LIMIT = "HOLDFAST_MAX_SESSIONS"
"""Where this can be overridden; new code after an upgrade finds it there too."""

STATES = ("starting", "running", "frozen", "fenced", "exited")


def changes(asked: Rename | Keep | Changed) -> Facts:
    """Return what changes about a session.

    Raises:
        UsageError: Its name cannot be one.
        PeerError: It has a state that there is not.

    """
    named = {name: getattr(asked, name, None) for name in Change._fields}
    found = {name: value for name, value in named.items() if value is not None}
    _demand_state(found)
    if "name" in found:
        checked_name(found["name"])
    return {name: as_facts(value) for name, value in found.items()}


def most_sessions(environment: Mapping[str, str]) -> int:
    """Return how many sessions may be kept; what is no number says nothing."""
    said = environment.get(LIMIT, "")
    return int(said) if said.isascii() and said.isdigit() else MAX_SESSIONS


def creation(packet: packets.Packet) -> None:
    """Do nothing if a session can be asked for like this.

    Raises:
        UsageError: It is too much to pass on.
        PeerError: It has a command without words.

    """
    if packet.get("command") == []:
        raise MalformedMessage("creation", "command is empty")
    size = len(json.dumps(packet))
    if size > packets.MAX_PACKET - ROOM:
        raise RequestTooLarge(size)


def deposit(facts: object, fds: list[int]) -> Facts:
    """Return the facts of a deposit that a holder can be made from.

    Raises:
        PeerError: Something is missing or of the wrong type.

    """
    if not isinstance(facts, dict) or not facts.keys() >= {*_NEEDED}:
        raise MalformedMessage("deposit", "facts are missing")
    needed = {name: facts[name] for name in _NEEDED}
    fields_of(SessionRecord, needed)
    HeldRecord.from_facts(needed)
    _demand_state(needed)
    if None in needed.values():
        raise MalformedMessage("deposit", "a fact is null")
    if not needed["command"]:
        raise MalformedMessage("deposit", "command is empty")
    kinds = [stat.S_IFMT(os.fstat(fd).st_mode) for fd in fds]
    expected = len(_KINDS) + (_GATED if facts.get("exec_gate") else 0)
    expected += _CAPSULED if facts.get("capsule") else 0
    expected += _HELD if facts.get("start") else 0
    expected += HeldRecord.from_facts({"left": facts.get("left")}).left
    if len(fds) != expected or kinds[:3] != _KINDS[:3]:
        raise MalformedMessage("deposit", "these are not a session's descriptors")
    return facts


def is_same(kept: list[int], brought: list[int]) -> bool:
    """Tell whether a deposit is of the session that we have descriptors of.

    Its holder has the memory and the listening socket from us or gave them to us;
    nobody else can have the same. The terminal is compared by neither: masters of
    different terminals look alike.
    """
    return all(
        os.path.samestat(os.fstat(kept[one]), os.fstat(brought[one]))
        for one in (_MEMORY, _LISTENER)
    )


def left(fds: list[int]) -> list[int]:
    """Return what a holder leaves so that its session can doze.

    Raises:
        PeerError: It is something else.

    """
    kinds = tuple(stat.S_IFMT(os.fstat(fd).st_mode) for fd in fds)
    if kinds not in _LEFT:
        raise MalformedMessage("doze", "this is not what a holder leaves")
    return fds


def pages(found: list[Facts]) -> list[list[Facts]]:
    """Cut a list so that each part fits a packet; there is always one part."""
    cut: list[list[Facts]] = [[]]
    room = MAX_PAGE
    for facts in found:
        size = len(json.dumps(facts))
        if cut[-1] and size > room:
            cut.append([])
            room = MAX_PAGE
        cut[-1].append(facts)
        room -= size
    return cut


def _demand_state(found: Facts) -> None:
    """Do nothing if no fact says that a session does what none can."""
    if found.get("state", STATES[0]) not in STATES:
        raise MalformedMessage("facts", "there is no such state")


_MEMORY, _LISTENER = 1, 2

_KINDS = [stat.S_IFCHR, stat.S_IFREG, stat.S_IFSOCK, 0]
"""Terminal, memory, listening socket; and a pidfd, which kernels call differently."""

_LEFT = ((stat.S_IFREG,), (stat.S_IFREG, stat.S_IFIFO))
"""A memory, and the shell's pipe if it has one."""

_GATED = 2
"""Descriptors more for a session with an exec gate: its listener, its notices."""

_CAPSULED = 2
"""Descriptors more for a session with a capsule: its pid 1's pidfd, its lifeline."""

_HELD = 2
"""Descriptors more while a command has not begun: its word, and its report."""

_NEEDED = ("name", "pid", "holder", "state", "command", "size")
"""Facts without which there is no session."""
