"""Whether this host wrote a file, and whether it was changed since.

The known operators and the invitations are kept in small files of facts. Each has a
`seal`: a code over the facts and over what the file is about, under a key available
only to those who can read the host's key. So a program that can write files, and no
more, makes nobody known and gives nobody a right.

A file that was removed can be put back as it was (SECURITY.md, N1).
"""

import hmac
import json
from collections.abc import Mapping

from holdfast.linux.stored.host_key import host_seed

SEAL = "seal"
_KEY = b"holdfast file seal 1\n"


def key() -> bytes:
    """Return the key of this host's seals.

    Raises:
        UsageError: The place for it is not ours.

    """
    return hmac.digest(host_seed(), _KEY, "sha256")


def sealed(facts: Mapping[str, object], of: str) -> dict[str, object]:
    """Return facts with the seal of this host; `of` is what they are about."""
    return {**_bare(facts), SEAL: _code(facts, of, key())}


def is_sealed(facts: Mapping[str, object], of: str, under: bytes) -> bool:
    """Tell whether facts are as they were sealed, about the same thing."""
    seal = facts.get(SEAL)
    if not isinstance(seal, str) or not seal.isascii():
        return False
    return hmac.compare_digest(_code(facts, of, under), seal)


def _bare(facts: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in facts.items() if name != SEAL}


def _code(facts: Mapping[str, object], of: str, under: bytes) -> str:
    written = json.dumps([of, _bare(facts)], sort_keys=True).encode()
    return hmac.digest(under, written, "sha256").hex()
