"""Changes our key, here and on every host that we have joined.

Hosts are told first, over channels that the old key opens; then it is done here.
The new seed is written down before hosts are told of it, so a program killed on
the way can begin again, and the hosts that were told are not lost.
"""

import contextlib
import json
import os
from pathlib import Path

from holdfast.client import hosts, session_location
from holdfast.client.current_operator import ourselves
from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import SEED
from holdfast.crypto.rotation import rotate
from holdfast.linux.stored import operators, seals
from holdfast.linux.stored.operators import Enrolled
from holdfast.linux.stored.small_files import write_file
from holdfast.model.errors import HoldfastError
from holdfast.model.session_requests import Rotate, Status


def rotate_us(*, force: bool) -> tuple[Enrolled, dict[str, str]]:
    """Change our key; return who we are, and which hosts were not told, and why.

    Without `force` nothing is done unless every host can be reached.

    Raises:
        HoldfastError: A host cannot be reached, and nothing was done.
        Forbidden: We are not at home here.

    """
    us = ourselves()
    old = Identity.from_seed(us.seed())
    known = hosts.known()
    if not force:
        for host in known:
            session_location.ask_far(host.name, Status())
    draft = Path(us.folder) / "key.next"
    seed = _drafted(draft)
    statement = rotate(old, Identity.from_seed(seed)).to_bytes()
    untold: dict[str, str] = {}
    for host in known:
        try:
            session_location.ask_far(host.name, Rotate(statement.hex()))
        except HoldfastError as error:
            untold[host.name] = str(error)
    new = Identity.from_seed(seed).public
    rotated = operators.rotate(us, new, statement, seed)
    draft.unlink()
    return rotated, untold


def _drafted(draft: Path) -> bytes:
    """Return the seed that was written down before, or write one down."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        found = json.loads(draft.read_bytes())
        # An attacker who chose our key would have it.
        if isinstance(found, dict) and seals.is_sealed(found, _of(draft), seals.key()):
            return bytes.fromhex(found["seed"])
    seed = os.urandom(SEED)
    facts = seals.sealed({"seed": seed.hex()}, _of(draft))
    write_file(draft, json.dumps(facts).encode())
    return seed


def _of(draft: Path) -> str:
    return f"operators/{draft.parent.name}/{draft.name}"
