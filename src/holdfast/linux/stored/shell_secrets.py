"""The secrets of a shell that was started on another host, and came here with a move.

They derive from the key of the host that started it (linux/shells.py); so they come
with the session, and are kept here, sealed, until it ends.
"""

import json
import os
from typing import NamedTuple

from holdfast.linux.stored import recovery_places
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.small_files import read_file, replace_file
from holdfast.model.ids import SessionId

_MAX = 4096


class ShellSecrets(NamedTuple):
    """What a shell signs its marks and its messages with."""

    nonce: bytes
    key: bytes


def keep(session: str, secrets: ShellSecrets) -> None:
    """Keep the secrets of a session's shell.

    Raises:
        OSError: The disk refuses.

    """
    from holdfast.crypto.at_rest import NONCE, file_key, seal_file  # noqa: PLC0415  # rare

    plain = json.dumps([secrets.nonce.hex(), secrets.key.hex()]).encode()
    sealed = seal_file(file_key(host_seed()), os.urandom(NONCE), plain, _about(session))
    replace_file(_path(session), sealed)


def find(session: str) -> ShellSecrets | None:
    """Return the secrets of a session's shell, if another host has made them.

    Raises:
        PeerError: They were changed.

    """
    try:
        raw = read_file(_path(session), _MAX)
    except OSError:
        return None
    from holdfast.crypto.at_rest import file_key, open_file  # noqa: PLC0415  # rare

    nonce, key = json.loads(open_file(file_key(host_seed()), raw, _about(session)))
    return ShellSecrets(bytes.fromhex(nonce), bytes.fromhex(key))


def _path(session: str) -> str:
    return recovery_places.path_of(SessionId(session), recovery_places.SHELL)


def _about(session: str) -> str:
    return f"shell {session}"
