"""Where sessions and operators of this machine are: keeper.md 1, operators.md 1."""

import getpass
import json
import os
import re
from pathlib import Path

from holdfast.conformance.link import UnixCarrier
from holdfast.conformance.subject import Operator, Subject

SECOND = "tester"
"""Who is the second operator if none is named."""

SESSION = re.compile(r"s_[a-z2-7]{16}")


class NotFound(Exception):
    """There is no such session, or operator."""


def subject_at(
    address: str, session: str = "", operators: tuple[str, ...] = ()
) -> Subject:
    """Return the subject of an address: a session's name or id, or a socket's path.

    Raises:
        NotFound: There is none, or nobody to be there.

    """
    path = _socket(address)
    found = SESSION.search(session or path.name)
    if found is None:
        raise NotFound(f"{path} does not say which session it is of: use --session")
    known = [_operator(name) for name in operators] or _usual()
    second = next((one for one in known[1:] if one.actor != known[0].actor), None)
    return Subject(address, found[0], lambda: UnixCarrier(str(path)), known[0], second)


def _socket(address: str) -> Path:
    if "/" in address:
        return Path(address.removeprefix("unix:"))
    folder = _runtime() / "s"
    if (folder / f"{address}.sock").exists():
        return folder / f"{address}.sock"
    for link in sorted(folder.glob("*.name")):
        if link.is_symlink() and str(link.readlink()) == address:
            return link.with_suffix(".sock")
    raise NotFound(f"no session on this machine is called {address}")


def _runtime() -> Path:
    if given := os.environ.get("HOLDFAST_RUNTIME_DIR"):
        return Path(given)
    if given := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(given) / "holdfast"
    return Path.home() / ".local/state/holdfast/run"


def _config() -> Path:
    if given := os.environ.get("HOLDFAST_CONFIG_DIR"):
        return Path(given)
    if given := os.environ.get("XDG_CONFIG_HOME"):
        return Path(given) / "holdfast"
    return Path.home() / ".config/holdfast"


def _usual() -> list[Operator]:
    """Return the login user, and the operator named `tester`, if there is one."""
    user = os.environ.get("HOLDFAST_AS") or getpass.getuser()
    known = [_operator(user)]
    if (_config() / "operators" / SECOND).is_dir():
        known.append(_operator(SECOND))
    return known


def _operator(name: str) -> Operator:
    """Return an operator by name, or by ACTOR=FILE with its token in the file."""
    if name.startswith("a_") and "=" in name:
        actor, _, file = name.partition("=")
        return Operator(actor[:10], actor, "", _read(Path(file)))
    folder = _config() / "operators" / name
    try:
        facts = json.loads(_read(folder / "operator.json"))
        actor, kind = str(facts["actor"]), str(facts["kind"])
    except (ValueError, KeyError) as error:
        raise NotFound(f"{folder} is no operator") from error
    return Operator(name, actor, kind, _read(folder / "token"))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path}: {error.strerror}") from error
