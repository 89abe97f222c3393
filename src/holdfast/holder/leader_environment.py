"""What a session's leader is started with: its shell, its variables, its cgroup."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.core.policy.start_words import Start, start_of
from holdfast.core.session.recovery import StartFacts
from holdfast.crypto.branch_token import Branch, issue
from holdfast.crypto.keys import SigningKey
from holdfast.linux import cgroups, own_command, terminfo
from holdfast.linux.stored import operators
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Creation
from holdfast.model.settings import TERM
from holdfast.model.terminal_variables import OF_ONE_TERMINAL

OURS = "HOLDFAST_SESSION"

BRANCH = "HOLDFAST_BRANCH"
"""Says in a capsule which branch of a session this is."""

PLACES = ("HOLDFAST_RUNTIME_DIR", "HOLDFAST_STATE_DIR", "HOLDFAST_CONFIG_DIR")
"""Where this host keeps its files, if that was configured: `holdfast` in a session is
about the same sessions."""

_PASSING = frozenset({"PYTHONPATH", "PWD", "OLDPWD", "SHLVL", "_"})
"""Variables of our own process that say nothing about the host."""


def environment_of(
    asked: Creation,
    session: SessionId,
    creator: operators.Enrolled,
    earlier: StartFacts | None = None,
) -> dict[str, str]:
    """Return the variables of a leader: of its earlier life, if they were kept."""
    places = {name: os.environ[name] for name in PLACES if name in os.environ}
    ground = _ground() if _is_grounded(asked, creator, earlier) else {}
    if earlier is not None and (kept := earlier.environment) is not None:
        before = {name: value for name, value in kept.items() if name not in PLACES}
        return {**ground, **before, **places, OURS: session}
    # Nobody else says where our files are: that is not judged (`start_words`).
    given = {
        name: value for name, value in (asked.env or {}).items() if name not in PLACES
    }
    found = {**ground, **given, **places, OURS: session}
    if "TERM" not in found:
        # Not that of the process which asks: others will look at the session too.
        found["TERM"] = terminfo.usable(TERM, found)
    return found


class Given(NamedTuple):
    """The variables that a leader is given."""

    variables: dict[str, str]
    is_grounded: bool
    """Whether what the host has set comes below them."""


def given_of(
    asked: Creation,
    creator: operators.Enrolled,
    environment: dict[str, str],
    earlier: StartFacts | None,
) -> Given:
    """Return what is kept of a leader's variables, for another life."""
    if not _is_grounded(asked, creator, earlier):
        return Given(environment, is_grounded=False)
    ground = _ground()
    beyond = {
        name: value for name, value in environment.items() if ground.get(name) != value
    }
    return Given(beyond, is_grounded=True)


def _is_grounded(
    asked: Creation, creator: operators.Enrolled, earlier: StartFacts | None
) -> bool:
    """Tell whether a leader gets what this host has set, and the rest on top of it.

    What people have set is theirs. Any other creator gets what this host has set, and
    what it gives beyond that is judged.
    """
    if earlier is not None and earlier.environment is not None:
        return earlier.is_grounded
    return asked.ground or creator.actor.kind is not ActorKind.HUMAN


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


def with_token(
    environment: dict[str, str], session: SessionId, life: int, parent: str
) -> dict[str, str]:
    """Return variables that say which branch they are in, signed by this host."""
    key = SigningKey.from_seed(host_seed())
    return {**environment, BRANCH: issue(Branch(session, life, parent), key)}


def start_words(command: Sequence[str], cwd: str, environment: dict[str, str]) -> Start:
    """Return what is started, as it is judged: with what this host has not set."""
    ours = {OURS, *PLACES}
    told = {name: value for name, value in environment.items() if name not in ours}
    return start_of(command, cwd, told, _ground())


@contextlib.contextmanager
def new_cgroup(session: SessionId, *, had_lives: bool = False) -> Iterator[str]:
    """Make the session's own cgroup; yield its folder, or nothing if we may not.

    Something is to be in it by the end of this: then others may take it for left over.
    """
    folder = cgroups.ground().folder
    if folder is None:
        yield ""
        return
    with contextlib.ExitStack() as claimed:
        made = cgroups.SessionCgroup.below(folder, session)
        try:
            claimed.enter_context(made.claimed())
            if had_lives:  # The last one may have been lost standing still.
                made.thaw()
        except OSError:
            found = ""
        else:
            found = os.fspath(made.folder)
        yield found


def _ground() -> dict[str, str]:
    """Return what this host has set, without what is ours or speaks of a place."""
    left_out = _PASSING | OF_ONE_TERMINAL
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HOLDFAST_") and name not in left_out
    }
