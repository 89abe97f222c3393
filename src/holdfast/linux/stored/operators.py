"""The operators known on this machine, and their credentials.

One folder for each operator, by name:

    operators/anna/operator.json   actor, kind, name, public key: not secret
    operators/anna/token           what local clients prove themselves with
    operators/anna/key             the private key, if the operator is at home here

A folder is created under another name and renamed, so it is there whole or not at
all. Nothing in it ever changes except by a rotation, in which another key replaces the
key (crypto/rotation.py); the operator stays who its first key made it.

    operators/anna/rotation-1      the statement by which the first key gave way
    operators/anna/key-1           the private key since then

For an operator who came by an invitation, operator.json has what that promised, and
there is no key here: the operator is at home elsewhere.

operator.json is sealed by this host (linux/stored/seals.py) and holds a digest of the
token: a file that the host did not write is treated as absent.

An operator being added, removed or given another key is in the host's logbook before
that is done; if the logbook cannot be written, it is not done.
"""

# ruff: noqa: PTH102, PTH104, PTH110, PTH208  # pathlib is slow to load for an attach

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.linux.stored import folders, seals
from holdfast.linux.stored.small_files import read_file, sync_folder, write_file
from holdfast.model import errors
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.envelopes import (
    WHOLE_HOST,
    Envelope,
    Right,
    default_rights,
    rights_from,
)
from holdfast.model.ids import ActorId, SessionId, actor_id, parse_session_id
from holdfast.model.text import checked_name, same_name

Fields = dict[str, str | int | bool | None]
"""What an entry of the host's logbook adds."""

MAX_FILE = 4096
"""Bytes of any file in such a folder; a longer one was not written by us."""

MAX_OPERATORS = 1000
"""Folders looked at: more operators than one machine has, and soon read."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The invitation that an operator used, and what it promised."""

    invite: str
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Enrolled:
    """An operator that is known here."""

    actor: Actor
    public_key: bytes
    folder: str
    terms: Terms | None = None
    rotations: int = 0
    """How often its key gave way to another."""

    token_digest: str = ""
    """What the token is known by."""

    @property
    def promised(self) -> Envelope | None:
        """What an invitation promised; None if its kind decides."""
        return None if self.terms is None else self.terms.envelope

    def may_on_host(self, right: Right) -> bool:
        """Tell whether it may use a right on this whole host now."""
        promised = self.promised
        if promised is None:
            return right in default_rights(self.actor.kind, began_it=False)
        expires = promised.expires_wall
        is_valid = expires is None or time.time_ns() / 1e9 < expires
        return promised.session is WHOLE_HOST and right in promised.rights and is_valid

    @property
    def is_at_home(self) -> bool:
        """Whether its private key is here, so that it can act from here."""
        return os.path.exists(f"{self.folder}/{_numbered('key', self.rotations)}")

    def brought_with(self, session: SessionId) -> frozenset[Right]:
        """Return what it may do in a session that another host brought here with it."""
        try:
            facts = json.loads(read_file(f"{self.folder}/with-{session}", MAX_FILE))
            about = f"operators/{self.actor.id}/{session}"
            if seals.is_sealed(facts, about, seals.key()):
                return rights_from(map(str, facts["rights"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return frozenset()

    def token(self) -> bytes:
        """Return what local clients prove themselves with.

        Raises:
            Forbidden: There is none: this operator is not local.
            PeerError: It was replaced.

        """
        token = self._read("token")
        if self.token_digest and _digest(token) != self.token_digest:
            raise errors.OperatorFileDamaged(self.actor.name, "its token was changed")
        return token

    def rotation_statements(self) -> bytes:
        """Return what leads from its first key to the present one, in order.

        Raises:
            Forbidden: A statement is not here.

        """
        numbers = range(1, self.rotations + 1)
        return b"".join(self._read(_numbered("rotation", one)) for one in numbers)

    def seed(self) -> bytes:
        """Return the private key.

        Raises:
            Forbidden: It is not here.

        """
        return self._read(_numbered("key", self.rotations))

    def _read(self, name: str) -> bytes:
        try:
            return read_file(f"{self.folder}/{name}", MAX_FILE)
        except FileNotFoundError:
            raise errors.UnknownOperator(self.actor.name) from None


def enrolled() -> list[Enrolled]:
    """Return every operator known here, by name; damaged folders are left out."""
    found = []
    home, key = folders.operators_folder(), seals.key()
    for name in _names(home):
        with contextlib.suppress(errors.OperatorFileDamaged, OSError):
            found.append(_load(home, name, key))
    return found


def damaged() -> list[errors.OperatorFileDamaged]:
    """Return what is wrong with the folders that are left out."""
    found = []
    home, key = folders.operators_folder(), seals.key()
    for name in _names(home):
        try:
            _load(home, name, key)
        except errors.OperatorFileDamaged as error:
            found.append(error)
    return found


def by_name(name: str) -> Enrolled | None:
    """Return the operator called `name`, or None.

    Raises:
        PeerError: Its folder is damaged.

    """
    home = folders.operators_folder()
    for found in os.listdir(home):
        if same_name(found, name):
            return _load(home, found, seals.key())
    return None


def by_actor(actor: ActorId) -> Enrolled | None:
    """Return the operator with this id, or None."""
    return next((one for one in enrolled() if one.actor.id == actor), None)


def by_key(public_key: bytes) -> Enrolled | None:
    """Return the operator that has this key now, or None."""
    return next((one for one in enrolled() if one.public_key == public_key), None)


def is_taken(name: str) -> bool:
    """Tell whether an operator here has a name like this, or left a folder of it."""
    home = folders.operators_folder()
    return any(same_name(found, name) for found in os.listdir(home))


def enrol(  # noqa: PLR0913, PLR0917  # all that is written down of one
    name: str,
    kind: ActorKind,
    public_key: bytes,
    seed: bytes | None,
    token: bytes,
    terms: Terms | None = None,
    by: str = "",
) -> Enrolled:
    """Make an operator known; return it. Without a seed it is at home elsewhere.

    `by` is who wants it; empty if it is the operator itself.

    Raises:
        UsageError: The name is taken, or none.
        Unavailable: The host's logbook cannot be written.

    """
    name = checked_name(name)
    home = folders.operators_folder()
    if is_taken(name):
        raise errors.OperatorTaken(name)
    # Two threads of one process may want the same name at once.
    draft = f"{home}/.{name}.{os.urandom(8).hex()}"
    os.mkdir(draft, 0o700)
    try:
        write_file(f"{draft}/token", token)
        if seed is not None:
            write_file(f"{draft}/key", seed)
        facts: dict[str, object] = {
            "actor": actor_id(public_key),
            "kind": kind.value,
            "name": name,
            "public_key": public_key.hex(),
            "token": _digest(token),
        }
        if terms is not None:
            facts |= {"invite": terms.invite, "envelope": to_facts(terms.envelope)}
        write_file(f"{draft}/operator.json", _sealed(facts, name))
        arrived = _arrival(Actor(actor_id(public_key), kind, name), public_key, terms)
        with _changing() as record:
            if is_taken(name):
                raise errors.OperatorTaken(name)  # Another process was faster.
            record(*arrived, by)
            os.rename(draft, f"{home}/{name}")
    except (OSError, errors.HoldfastError):
        _remove(draft)
        raise
    return _load(home, name, seals.key())


def rotate(
    known: Enrolled, new_key: bytes, statement: bytes, seed: bytes | None
) -> Enrolled:
    """Replace an operator's key in one step; return the operator as it is then.

    The caller has checked the statement. A process killed in here leaves the old
    key in force, or the new one.

    Raises:
        UsageError: Another operator already has that key.
        Unavailable: The host's logbook cannot be written.

    """
    taken = by_key(new_key)
    if taken is not None:
        raise errors.OperatorTaken(taken.actor.name)
    folder, number = known.folder, known.rotations + 1
    facts = _facts(folder, seals.key())
    facts.setdefault("first_key", known.public_key.hex())
    facts |= {"public_key": new_key.hex(), "rotations": number}
    written = _sealed(facts, os.path.basename(folder))  # noqa: PTH119  # see above
    write_file(f"{folder}/{_numbered('rotation', number)}", statement)
    if seed is not None:
        write_file(f"{folder}/{_numbered('key', number)}", seed)
    write_file(f"{folder}/operator.json.next", written)
    actor = known.actor.id
    with _changing() as record:
        entry: Fields = {"actor": actor, "number": number, "key": new_key.hex()}
        record("rotated", entry, actor)
        os.rename(f"{folder}/operator.json.next", f"{folder}/operator.json")
    sync_folder(folder)  # Only a key that is surely not needed any more may go.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{folder}/{_numbered('key', number - 1)}")  # noqa: PTH108
    home, name = os.path.split(folder)
    os.utime(home)  # Wakes those who watch for changed operators.
    return _load(home, name, seals.key())


def bring(known: Enrolled, session: SessionId, rights: frozenset[Right]) -> None:
    """Let an operator into a session that another host brought here.

    Raises:
        OSError: The disk refuses.

    """
    about = f"operators/{known.actor.id}/{session}"
    facts = seals.sealed({"rights": sorted(rights)}, about)
    path = f"{known.folder}/with-{session}"
    write_file(f"{path}.new", json.dumps(facts).encode())
    os.rename(f"{path}.new", path)
    os.utime(folders.operators_folder())  # Wakes those who watch for changed operators.


def forget(name: str, by: str = "") -> None:
    """Make an operator unknown here.

    Raises:
        Forbidden: Nobody is called that.
        Unavailable: The host's logbook cannot be written.

    """
    found = by_name(name)
    if found is None:
        raise errors.UnknownOperator(name)
    import shutil  # noqa: PLC0415  # slow to load, and rarely needed

    with _changing() as record:
        actor = found.actor
        record("forgotten", {"actor": actor.id, "name": actor.name}, by)
        shutil.rmtree(found.folder)


def promise_fields(envelope: Envelope) -> Fields:
    """Return an envelope as it stands in the host's logbook."""
    expires = envelope.expires_wall
    return {
        "rights": ",".join(sorted(envelope.rights)),
        "scope": envelope.session,
        "expires": None if expires is None else round(expires * 1000),
    }


def to_facts(envelope: Envelope) -> dict[str, object]:
    """Return an envelope as it is written into files."""
    expires = envelope.expires_wall
    return {
        "rights": sorted(envelope.rights),
        "session": envelope.session,
        "expires_ms": None if expires is None else round(expires * 1000),
    }


def from_facts(facts: dict[str, object]) -> Envelope:
    """Read an envelope from a file. What is missing is not taken for granted.

    Raises:
        ValueError, KeyError, TypeError, UsageError: It is none.

    """
    rights, session, expires = facts["rights"], facts["session"], facts["expires_ms"]
    if not isinstance(rights, list) or not isinstance(expires, int | None):
        raise TypeError("an envelope has a list of rights, and milliseconds")
    return Envelope(
        rights_from(map(str, rights)),
        None if session is None else parse_session_id(str(session)),
        None if expires is None else expires / 1000,
    )


def _names(home: str) -> list[str]:
    names = sorted(os.listdir(home))[:MAX_OPERATORS]
    return [name for name in names if not name.startswith(".")]


def _digest(token: bytes) -> str:
    return hashlib.sha256(token).hexdigest()


def _sealed(facts: dict[str, Any], name: str) -> bytes:
    whole = seals.sealed(facts, f"operators/{name}")
    return json.dumps(whole, indent=2).encode() + b"\n"


def _facts(folder: str, key: bytes) -> dict[str, Any]:
    """Return what this host wrote down of an operator.

    Raises:
        PeerError: It did not write this.

    """
    own = os.path.basename(folder)  # noqa: PTH119  # pathlib is slow to load
    try:
        facts = json.loads(read_file(f"{folder}/operator.json", MAX_FILE))
    except (OSError, ValueError) as error:
        raise errors.OperatorFileDamaged(own, str(error)) from None
    if not isinstance(facts, dict):
        raise errors.OperatorFileDamaged(own, "it holds no facts")
    if not seals.is_sealed(facts, f"operators/{own}", key):
        raise errors.OperatorFileDamaged(own, "this host has not written it like this")
    return facts


def _load(home: str, own: str, key: bytes) -> Enrolled:
    folder = f"{home}/{own}"
    facts = _facts(folder, key)
    try:
        token_digest = str(facts["token"])
        public_key = bytes.fromhex(facts["public_key"])
        kind, name = ActorKind(facts["kind"]), checked_name(str(facts["name"]))
        first_key = bytes.fromhex(facts.get("first_key", facts["public_key"]))
        is_right = facts["actor"] == actor_id(first_key) and name == own
        rotations = int(facts.get("rotations", 0))
        terms = None
        if "envelope" in facts:
            terms = Terms(str(facts["invite"]), from_facts(facts["envelope"]))
    except (ValueError, KeyError, TypeError, errors.UsageError) as error:
        raise errors.OperatorFileDamaged(own, str(error)) from None
    if not is_right:
        # A folder copied or renamed by hand must not become another operator.
        raise errors.OperatorFileDamaged(own, "it belongs to another name or key")
    actor = Actor(actor_id(first_key), kind, name)
    return Enrolled(actor, public_key, folder, terms, rotations, token_digest)


def _arrival(
    actor: Actor, public_key: bytes, terms: Terms | None
) -> tuple[str, Fields]:
    who: Fields = {
        "actor": actor.id,
        "as": actor.kind.value,
        "name": actor.name,
        "key": public_key.hex(),
    }
    if terms is None:
        return "enrolled", who
    return "joined", {**who, "invite": terms.invite, **promise_fields(terms.envelope)}


@contextlib.contextmanager
def _changing() -> Iterator[Callable[[str, Fields, str], object]]:
    """Yield a function that records a change, while nobody else changes anything."""
    # Loaded here: most who look at operators change nothing.
    from holdfast.core.book.logbook import EntryKind  # noqa: PLC0415
    from holdfast.linux.stored import host_book  # noqa: PLC0415

    with host_book.writing() as book:
        yield lambda kind, fields, by: book.append(
            EntryKind(kind), {**fields, "by": by}
        )


def _numbered(name: str, number: int) -> str:
    return f"{name}-{number}" if number else name


def _remove(draft: str) -> None:
    if os.path.exists(draft):
        import shutil  # noqa: PLC0415  # slow to load, and rarely needed

        shutil.rmtree(draft, ignore_errors=True)
