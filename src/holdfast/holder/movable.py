"""What a session must have to be movable: a relay that decides, and a cgroup."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from holdfast.core.capsule.runtime_choice import Choice
from holdfast.core.relay.lease_term import BIRTH
from holdfast.holder.leader_environment import new_cgroup
from holdfast.holder.moment import boottime
from holdfast.linux import cgroups, processes
from holdfast.linux.stored import relays
from holdfast.model.errors import NotMovable
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Creation


def authority_for(asked: Creation, choice: Choice, known: str = "") -> str:
    """Return the relay that says which host may speak for a session; empty if none.

    It is chosen once, at the session's birth: `known` is what an earlier life had.

    Raises:
        NotMovable: It could not be fenced, or there is no relay.

    """
    if not asked.movable:
        return ""
    where = cgroups.ground()
    if not choice.is_capsule:
        raise NotMovable("only what runs in a capsule is")
    if where.folder is None:
        raise NotMovable(f"a fence needs a cgroup, and {where.why_not}")
    first = known or next(iter(relays.written_down()), "")
    if not first:
        raise NotMovable("no relay is named in the file `relays`")
    return first


@contextlib.contextmanager
def cgroup_for(session: SessionId, authority: str, *, had_lives: bool) -> Iterator[str]:
    """Make its cgroup, without which what is movable could not be fenced.

    Raises:
        NotMovable: It needs one, and there is none.

    """
    with new_cgroup(session, had_lives=had_lives) as made:
        if authority and not made:
            raise NotMovable("a fence needs a cgroup, and none can be made")
        yield made


def demand_inside(authority: str, cgroup: str, leader: int) -> None:
    """Do nothing if a movable session's leader is where a fence reaches it.

    Raises:
        NotMovable: It is not, and was killed: its cgroup was removed meanwhile, say.

    """
    if authority and leader not in cgroups.SessionCgroup(Path(cgroup)).pids():
        processes.kill_session(leader)
        raise NotMovable("it could not be put into its cgroup")


def first_expiry(authority: str) -> float:
    """Return until when it may speak before its first grant; 0 if it needs none."""
    return boottime() + BIRTH if authority else 0.0
