"""One look at every session of this machine, for the reaper; nobody is woken for it.

The keeper lists what lasts, and asks the holders that are awake. A session that dozes
has had neither input nor output since it fell asleep; what its processes do meanwhile
the kernel counts. A logbook that has grown tells of inputs and of who came and went.
"""

import contextlib
import os
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.core.session.idle_sessions import Activity, has_job
from holdfast.host.keeper_requests import PATIENCE
from holdfast.linux.keeper_requests import ask_keeper
from holdfast.linux.stored import folders, operators
from holdfast.linux.stored.book_parts import is_part, part_path
from holdfast.linux.tree_usage import Root, TreeUsage, Usage
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.process_status import KeeperStatus
from holdfast.model.session_record import SessionRecord, listed_in, record_of
from holdfast.model.session_requests import ListSessions, Status

KEPT = "it is kept"
PERSONAL = "a person began it"

_SPARED = {
    "starting": "its command has not begun",
    "frozen": "it is frozen",
    "fenced": "it is fenced",
    "stalled": "its holder does not answer",
}


class Looked(NamedTuple):
    """What was seen of one session."""

    record: SessionRecord
    activity: Activity
    memory: int

    @property
    def id(self) -> SessionId:
        """Whose it is."""
        return self.record.id


class IdleLook:
    """Looks at all sessions, again and again."""

    def __init__(self) -> None:
        self._usage = TreeUsage()

    def look(self, *, people: bool) -> list[Looked]:
        """Return what every session that lives has done so far.

        `people` says whether a session may be reaped that a person began.

        Raises:
            Unavailable: The keeper does not answer.

        """
        answer = ask_keeper(ListSessions(look=True), patience=PATIENCE)
        status = record_of(KeeperStatus, ask_keeper(Status(), patience=PATIENCE))
        listed = [facts for facts in listed_in(answer) if isinstance(facts, dict)]
        living = [one for one in listed if one.get("exit") is None]
        roots = {str(facts["id"]): _root(facts) for facts in living}
        used = self._usage.measured(roots, status.pid)
        kinds = {str(one.actor.id): one.actor.kind for one in operators.enrolled()}
        found = []
        for facts in living:
            record = SessionRecord.from_facts(facts)
            usage = used.get(record.id)
            if usage is not None:  # Else it has just ended.
                spared = _spared(record, facts, kinds, people=people)
                activity = _activity(record, facts, usage, spared)
                found.append(Looked(record, activity, usage.resident))
        return found


def _root(facts: Mapping[str, object]) -> Root:
    capsule = facts.get("capsule")
    first = capsule.get("first") if isinstance(capsule, dict) else 0
    return Root(_number(facts.get("pid")), _number(first))


def _number(value: object) -> int:
    """Return a fact that is a number; there may be two thousand sessions."""
    return value if isinstance(value, int) else 0


def _spared(
    record: SessionRecord,
    facts: Mapping[str, object],
    kinds: Mapping[str, ActorKind],
    *,
    people: bool,
) -> str:
    if record.keep:
        return KEPT
    # Nobody's session is taken for an agent's.
    starter = str(facts.get("starter") or facts.get("creator") or "")
    begun_by = kinds.get(starter, ActorKind.HUMAN)
    if begun_by is ActorKind.HUMAN and not people:
        return PERSONAL
    return _SPARED.get(record.state, "")


def _activity(
    record: SessionRecord, facts: Mapping[str, object], usage: Usage, spared: str
) -> Activity:
    word = record.doing.partition(" in ")[0]
    is_leader = usage.foreground in {0, record.pid}
    return Activity(
        attached=_number(facts.get("operating")),
        output_bytes=_number(facts.get("offset")),
        inputs=_book_size(record.id),
        cpu_ticks=usage.ticks,
        foreground_job=has_job(word, is_leader=is_leader),
        spared=spared,
    )


def _book_size(session: SessionId) -> int:
    path = folders.session_log(session)
    size, number = 0, 0
    with contextlib.suppress(OSError):
        while number == 0 or is_part(path, number):
            size += os.stat(part_path(path, number)).st_size  # noqa: PTH116  # names
            number += 1
    return size
