"""The host that a session went to, by the word of the one that it left."""

from holdfast.client import hosts
from holdfast.client.hosts import KnownHost
from holdfast.crypto import moved_word
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored.host_key import host_seed


def our_key() -> bytes:
    """Return the key of this machine's host."""
    return SigningKey.from_seed(host_seed()).public


def host_in(word: str, session: str, key: bytes) -> KnownHost:
    """Return where a session went; `key` is that of the host that has to say so.

    A host that we know already keeps the name that we have for it.

    Raises:
        PeerError: That host has not said so.

    """
    return host_of(moved_word.read(word, session, key))


def host_of(said: moved_word.MovedWord) -> KnownHost:
    """Return a host that somebody told us of, as we know it."""
    for one in hosts.known():
        if one.public_key == said.public_key:
            return one
    return KnownHost(said.host, said.public_key, said.static_key, said.relays)
