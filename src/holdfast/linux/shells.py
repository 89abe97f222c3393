"""Which commands are shells that can report where their commands begin and end.

A shell is given holdfast's script (holdfast/shell) by its own options, and reads
the user's files as it would have; none of them is touched. Only the plainest ways
to start a shell are known here: other options mean that the user wants something
of their own.

The script gets a nonce through a descriptor, which it empties before the first
prompt. The environment, the arguments and the files of a process can be read by
its children; an empty pipe cannot.
"""

import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from holdfast.linux.stored import shell_secrets
from holdfast.linux.stored.host_key import host_seed

SCRIPTS = Path(__file__).parent.parent / "shell"

_NONCE = 16
_LOGIN = frozenset({"-l", "--login"})
_INTERACTIVE = frozenset({"-i", "--interactive"})

Environment = dict[str, str]


@dataclass(frozen=True, slots=True)
class Integrated:
    """How to start a shell so that it prints marks; `shell` is which one it is."""

    shell: str
    command: tuple[str, ...]
    environment: Environment


def integrated(
    command: tuple[str, ...], environment: Environment, scripts: Path = SCRIPTS
) -> Integrated | None:
    """Return how to start `command` so that it prints marks, if we know how."""
    program, *options = command
    shell = program.rpartition("/")[2]
    known = _SHELLS.get(shell)
    if known is None or not set(options) <= _LOGIN | _INTERACTIVE:
        return None
    script, start = known
    # Without its script a shell would leave the nonce for its children to read.
    if not (scripts / script).is_file():
        return None
    return Integrated(shell, *start(command, environment, str(scripts / script)))


def nonce_of(session: str) -> bytes:
    """Return the nonce of a session's shell: the same to every holder of it."""
    brought = shell_secrets.find(session)
    return _secret(b"holdfast marks\n", session) if brought is None else brought.nonce


def key_of(session: str) -> bytes:
    """Return what distinguishes messages of a session's shell from forged ones.

    It goes through a pipe that programs of the user can open; the nonce does not.
    """
    brought = shell_secrets.find(session)
    return _secret(b"holdfast state\n", session) if brought is None else brought.key


def handed_over(session: str, pipe: str) -> bytes:
    """Return the line that a shell reads before anything else."""
    said = nonce_of(session)
    # A path that is no line cannot be told in one; then the shell tells no state.
    if not pipe or "\n" in pipe:
        return said
    return b" ".join((said, key_of(session), os.fsencode(pipe)))


def _secret(purpose: bytes, session: str) -> bytes:
    secret = hmac.digest(host_seed(), purpose + session.encode(), "sha256")
    return secret[:_NONCE].hex().encode()


_Start = Callable[
    [tuple[str, ...], Environment, str], tuple[tuple[str, ...], Environment]
]


def _bash(
    command: tuple[str, ...], environment: Environment, script: str
) -> tuple[tuple[str, ...], Environment]:
    # A login shell reads no --rcfile; the script reads what a login shell reads.
    program, *options = command
    kept = ["-i" for one in options if one in _INTERACTIVE]
    is_login = bool(_LOGIN & set(options))
    added = {"HOLDFAST_LOGIN": "1"} if is_login else {}
    return (program, "--rcfile", script, *kept[:1]), {**environment, **added}


def _zsh(
    command: tuple[str, ...], environment: Environment, script: str
) -> tuple[tuple[str, ...], Environment]:
    added = {"ZDOTDIR": script.rpartition("/")[0]}
    if "ZDOTDIR" in environment:
        added["HOLDFAST_ZDOTDIR"] = environment["ZDOTDIR"]
    return command, {**environment, **added}


def _fish(
    command: tuple[str, ...], environment: Environment, script: str
) -> tuple[tuple[str, ...], Environment]:
    quoted = script.replace("\\", "\\\\").replace("'", "\\'")
    source = ("--init-command", f"source '{quoted}'")
    return (command[0], *source, *command[1:]), environment


BASH_SCRIPT = "integration.bash"
"""What a bash that tells of its commands has on its command line."""

_SHELLS: dict[str, tuple[str, _Start]] = {
    "bash": (BASH_SCRIPT, _bash),
    "zsh": ("zsh/.zshenv", _zsh),
    "fish": ("integration.fish", _fish),
}
"""By the name of the program: its script, and how it is given to it."""
