"""Describes an image of a session, from what its porter and its holder know."""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.core.capsule.preflight import Cut
from holdfast.linux.criu.program import Program
from holdfast.linux.criu.terminal_settings import terminal_of
from holdfast.linux.image_facts import mapped_files, mapped_paths, this_machine
from holdfast.linux.process_table import Process
from holdfast.model.ids import Incarnation, Index, parse_actor_id
from holdfast.model.session_record import CapsuleRecord, SessionRecord
from holdfast.wire import image_manifest
from holdfast.wire.messages import fitting

MAX_FACT = 128
_DIGEST = 32


class Facts(NamedTuple):
    """What the porter knows."""

    record: SessionRecord
    capsule: CapsuleRecord
    master: int
    label: str
    once: bool
    program: Program
    members: Mapping[int, Process]
    """What is dumped, by the capsule's own numbers."""

    stopped: tuple[int, ...]
    cuts: Sequence[Cut]
    opened: tuple[image_manifest.OpenFile, ...] = ()
    is_gated: bool = False


def manifest_of(facts: Facts, said: Mapping[str, object]) -> image_manifest.Manifest:
    """Return the manifest of an image, without its files and its number.

    `said` is what the holder has said: where the logbook ends.
    """
    record, capsule = facts.record, facts.capsule
    index = said.get("index")
    pids = [one.pid for one in facts.members.values()]
    seen = f"/proc/{capsule.first}/root" if capsule.files == "own" else ""
    mapped = mapped_files(mapped_paths(pids), seen)
    return image_manifest.Manifest(
        version=1,
        session=record.id,
        incarnation=Incarnation(record.incarnation),
        number=1,
        label=facts.label,
        made_ms=time.time_ns() // 1_000_000,
        kind="sealed" if capsule.files == "own" else "memory",
        once=facts.once,
        log_index=Index(index if isinstance(index, int) else 0),
        log_hash=bytes.fromhex(str(said.get("hash"))) or bytes(_DIGEST),
        monotonic_ns=time.clock_gettime_ns(time.CLOCK_MONOTONIC),
        boottime_ns=time.clock_gettime_ns(time.CLOCK_BOOTTIME),
        capsule=image_manifest.Capsule(
            files="own" if capsule.files == "own" else "shared",
            net="own" if capsule.net == "own" else "host",
            rootless=capsule.rootless,
            exec_gate=facts.is_gated,
            root_pid=capsule.inner_init,
            leader_pid=capsule.inner_leader,
            last_pid=max(facts.members),
            layers=capsule.layers,
            trees=capsule.trees,
        ),
        terminal=terminal_of(facts.master, capsule.terminal, record.size),
        shell=_shell(said),
        machine=machine_of(facts.program),
        stopped=facts.stopped,
        starters=_starters(facts.members, said),
        cut=tuple(
            image_manifest.Connection(
                one.pid, fitting(one.program, MAX_FACT), fitting(one.peer, MAX_FACT)
            )
            for one in facts.cuts[: image_manifest.MAX_CUT]
        ),
        open_files=facts.opened,
        mapped=tuple(mapped[path] for path in sorted(mapped)),
        files=(),
    )


def _shell(said: Mapping[str, object]) -> image_manifest.ShellChannel:
    command = said.get("command")
    known = command if isinstance(command, int) else 0
    hands = [parse_actor_id(one) for one in _texts(said.get("hands"))]
    phase = next(
        (one for one in image_manifest.PHASES if one == said.get("phase")),
        image_manifest.PHASES[0],
    )
    return image_manifest.ShellChannel(
        b"", b"", phase, known, tuple(hands[: image_manifest.MAX_HANDS])
    )


def _starters(
    members: Mapping[int, Process], said: Mapping[str, object]
) -> tuple[image_manifest.Starter, ...]:
    """Return who started what, by the capsule's numbers."""
    actors, listed = _texts(said.get("actors")), said.get("starters")
    pairs = listed if isinstance(listed, list) else []
    known = {int(pid): actors[int(at)] for pid, at in pairs}
    return tuple(
        image_manifest.Starter(inner, parse_actor_id(known[one.pid]))
        for inner, one in sorted(members.items())
        if one.pid in known
    )


def _texts(found: object) -> list[str]:
    return [str(one) for one in found] if isinstance(found, list) else []


def machine_of(program: Program) -> image_manifest.Machine:
    """Return this machine, with this CRIU."""
    major, minor, patch = (*program.version, 0, 0, 0)[:3]
    return this_machine(major * 10000 + minor * 100 + patch)
