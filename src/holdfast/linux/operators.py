"""Who is known on this machine, and where is what they prove it with?

One folder for each operator, by name:

    operators/anna/operator.json   actor, kind, name, public key: for everybody
    operators/anna/token           what local clients prove themselves with
    operators/anna/key             the private key, if the operator is at home here

A folder is made under another name and renamed, so it is there whole or not at
all. Nothing in it is ever changed: another key is another operator.
"""

# ruff: noqa: PTH102, PTH104, PTH110, PTH208  # pathlib is slow to load for an attach

import contextlib
import json
import os
from dataclasses import dataclass

from holdfast.linux import folders
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import (
    MalformedName,
    OperatorFileDamaged,
    OperatorTaken,
    UnknownOperator,
)
from holdfast.model.ids import ActorId, actor_id
from holdfast.model.text import checked_name, same_name

MAX_FILE = 4096
"""Bytes of any file in such a folder; a longer one was not written by us."""

MAX_OPERATORS = 1000
"""Folders looked at: more operators than one machine has, and soon read."""


@dataclass(frozen=True, slots=True)
class Enrolled:
    """An operator that is known here."""

    actor: Actor
    public_key: bytes
    folder: str

    def token(self) -> bytes:
        """Return what local clients prove themselves with.

        Raises:
            Forbidden: There is none: this operator is not local.

        """
        try:
            return _read(f"{self.folder}/token")
        except FileNotFoundError:
            raise UnknownOperator(self.actor.name) from None

    def seed(self) -> bytes:
        """Return the private key.

        Raises:
            Forbidden: It is not here.

        """
        try:
            return _read(f"{self.folder}/key")
        except FileNotFoundError:
            raise UnknownOperator(self.actor.name) from None


def enrolled() -> list[Enrolled]:
    """Return every operator known here, by name; damaged folders are left out."""
    found = []
    home = folders.operators_folder()
    for name in sorted(os.listdir(home))[:MAX_OPERATORS]:
        if not name.startswith("."):
            with contextlib.suppress(OperatorFileDamaged, OSError):
                found.append(_load(home, name))
    return found


def by_name(name: str) -> Enrolled | None:
    """Return the operator called `name`, or None.

    Raises:
        PeerError: Its folder is damaged.

    """
    home = folders.operators_folder()
    for found in os.listdir(home):
        if same_name(found, name):
            return _load(home, found)
    return None


def by_actor(actor: ActorId) -> Enrolled | None:
    """Return the operator with this id, or None."""
    return next((one for one in enrolled() if one.actor.id == actor), None)


def enrol(
    name: str, kind: ActorKind, public_key: bytes, seed: bytes | None, token: bytes
) -> Enrolled:
    """Make an operator known; return it.

    Raises:
        UsageError: The name is taken, or none.

    """
    name = checked_name(name)
    home = folders.operators_folder()
    if any(same_name(found, name) for found in os.listdir(home)):
        raise OperatorTaken(name)
    draft = f"{home}/.{name}.{os.getpid()}"
    _remove(draft)
    os.mkdir(draft, 0o700)
    try:
        _write(f"{draft}/token", token)
        if seed is not None:
            _write(f"{draft}/key", seed)
        facts = {
            "actor": actor_id(public_key),
            "kind": kind.value,
            "name": name,
            "public_key": public_key.hex(),
        }
        _write(f"{draft}/operator.json", json.dumps(facts, indent=2).encode() + b"\n")
        os.rename(draft, f"{home}/{name}")
    except OSError as error:
        _remove(draft)
        if os.path.exists(f"{home}/{name}"):
            raise OperatorTaken(name) from error
        raise
    return _load(home, name)


def forget(name: str) -> None:
    """Make an operator unknown here.

    Raises:
        Forbidden: Nobody is called that.

    """
    found = by_name(name)
    if found is None:
        raise UnknownOperator(name)
    import shutil  # noqa: PLC0415  # slow to load, and rarely needed

    shutil.rmtree(found.folder)


def _load(home: str, own: str) -> Enrolled:
    folder = f"{home}/{own}"
    try:
        facts = json.loads(_read(f"{folder}/operator.json"))
        public_key = bytes.fromhex(facts["public_key"])
        kind, name = ActorKind(facts["kind"]), checked_name(str(facts["name"]))
        is_right = facts["actor"] == actor_id(public_key) and name == own
    except (ValueError, KeyError, TypeError, OSError, MalformedName) as error:
        raise OperatorFileDamaged(own, str(error)) from None
    if not is_right:
        # A folder copied or renamed by hand must not become somebody else.
        raise OperatorFileDamaged(own, "it belongs to another name or key")
    return Enrolled(Actor(actor_id(public_key), kind, name), public_key, folder)


def _remove(draft: str) -> None:
    if os.path.exists(draft):
        import shutil  # noqa: PLC0415  # slow to load, and rarely needed

        shutil.rmtree(draft, ignore_errors=True)


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.read(fd, MAX_FILE)
    finally:
        os.close(fd)


def _write(path: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    try:
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
