"""What a session's leader is started with: its shell, its variables, its cgroup."""

import os
import pwd
from collections.abc import Sequence

from holdfast.core.policy.start_words import Start, start_of
from holdfast.linux import cgroups
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Creation

TERM = "xterm-256color"
OURS = "HOLDFAST_SESSION"

_PASSING = frozenset({"PYTHONPATH", "PWD", "OLDPWD", "SHLVL", "_"})
"""Variables of our own process that say nothing about the host."""


def login_shell() -> str:
    """Return what is run where nobody says what."""
    return os.environ.get("SHELL") or pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"


def environment_of(
    asked: Creation, session: SessionId, creator: operators.Enrolled
) -> dict[str, str]:
    """Return the variables of a leader."""
    is_person = creator.actor.kind is ActorKind.HUMAN
    # What people have set is theirs. Any other creator gets what this host has set,
    # and what it gives beyond that is judged.
    ground = {} if is_person and not asked.ground else _ground()
    return {"TERM": TERM, **ground, **(asked.env or {}), OURS: session}


def start_words(command: Sequence[str], cwd: str, environment: dict[str, str]) -> Start:
    """Return what is started, as it is judged: with what this host has not set."""
    told = {name: value for name, value in environment.items() if name != OURS}
    return start_of(command, cwd, told, _ground())


def new_cgroup(session: SessionId) -> str:
    """Make the session's own cgroup; return its folder, or nothing if we may not."""
    folder = cgroups.ground().folder
    if folder is None:
        return ""
    made = cgroups.SessionCgroup.below(folder, session)
    try:
        made.make()
    except OSError:
        return ""
    return os.fspath(made.folder)


def _ground() -> dict[str, str]:
    """Return what this host has set, without what is ours or speaks of a place."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HOLDFAST_") and name not in _PASSING
    }
