"""What a session's leader is started with: its shell, its variables, its cgroup."""

import os
import pwd
from collections.abc import Sequence

from holdfast.core.policy.start_words import Start, start_of
from holdfast.linux import cgroups, own_command, terminfo
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Creation
from holdfast.model.settings import TERM
from holdfast.model.terminal_variables import OF_ONE_TERMINAL

OURS = "HOLDFAST_SESSION"

PLACES = ("HOLDFAST_RUNTIME_DIR", "HOLDFAST_STATE_DIR", "HOLDFAST_CONFIG_DIR")
"""Where this host keeps its files, if somebody chose that: `holdfast` in a session is
about the same sessions."""

_PASSING = frozenset({"PYTHONPATH", "PWD", "OLDPWD", "SHLVL", "_"})
"""Variables of our own process that say nothing about the host."""


def login_shell() -> str:
    """Return what is run where nobody says what."""
    return os.environ.get("SHELL") or pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"


def environment_of(
    asked: Creation,
    session: SessionId,
    creator: operators.Enrolled,
    kept: dict[str, str] | None = None,
) -> dict[str, str]:
    """Return the variables of a leader: those of its earlier life, if it had one."""
    places = {name: os.environ[name] for name in PLACES if name in os.environ}
    if kept is not None:
        before = {name: value for name, value in kept.items() if name not in PLACES}
        return {**before, **places, OURS: session}
    is_person = creator.actor.kind is ActorKind.HUMAN
    # What people have set is theirs. Any other creator gets what this host has set,
    # and what it gives beyond that is judged.
    ground = {} if is_person and not asked.ground else _ground()
    # Nobody else says where our files are: that is not judged (`start_words`).
    given = {
        name: value for name, value in (asked.env or {}).items() if name not in PLACES
    }
    found = {**ground, **given, **places, OURS: session}
    if "TERM" not in found:
        # Not that of the process which asks: others will look at the session too.
        found["TERM"] = terminfo.usable(TERM, found)
    return found


def with_holdfast(environment: dict[str, str]) -> dict[str, str]:
    """Return variables by which our own command is found, behind everything else.

    It is ours and no part of what was asked for, so nobody has to approve it.
    """
    path = environment.get("PATH", os.defpath)
    if any(
        os.access(f"{one}/{own_command.NAME}", os.X_OK)
        for one in path.split(os.pathsep)
    ):
        return environment
    folder = own_command.folder()
    return (
        {**environment, "PATH": f"{path}{os.pathsep}{folder}"}
        if folder
        else environment
    )


def start_words(command: Sequence[str], cwd: str, environment: dict[str, str]) -> Start:
    """Return what is started, as it is judged: with what this host has not set."""
    ours = {OURS, *PLACES}
    told = {name: value for name, value in environment.items() if name not in ours}
    return start_of(command, cwd, told, _ground())


def new_cgroup(session: SessionId, *, had_lives: bool = False) -> str:
    """Make the session's own cgroup; return its folder, or nothing if we may not."""
    folder = cgroups.ground().folder
    if folder is None:
        return ""
    made = cgroups.SessionCgroup.below(folder, session)
    try:
        made.make()
        if had_lives:  # The last one may have been lost standing still.
            made.thaw()
    except OSError:
        return ""
    return os.fspath(made.folder)


def _ground() -> dict[str, str]:
    """Return what this host has set, without what is ours or speaks of a place."""
    left_out = _PASSING | OF_ONE_TERMINAL
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HOLDFAST_") and name not in left_out
    }
