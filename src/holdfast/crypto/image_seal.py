"""Seals an image for one host, as a stream that can be read once, from its beginning.

Theory of operation
-------------------
An image holds the memory of programs, so nobody on its way may read it, and what
arrives becomes processes, so nobody may change it. It is sealed to the X25519 key of
the host that it is for, with a key that is made for this stream alone:

    bytes  what
    24     "holdfast sealed image 1" and a newline
    32     the Ed25519 key of the host that it is for
    32     an X25519 key, made for this stream
    then   chunks: 4 bytes of length, 1 byte that is 1 in the last one and else 0, and
           so many bytes sealed with ChaCha20-Poly1305

The key of the chunks is HKDF of what the two X25519 keys make, with the hash of the
first 88 bytes. Each chunk is sealed under its number, and with that byte: none can be
left out, put elsewhere, repeated, or be taken for the last.

That does not say who has sealed it. The first thing inside is a signature by the host
that sends it, over those 88 bytes and the hash of the image's manifest: nobody can send
on, to a third host, what was sent to them.

Invariants, checked by tests/crypto/test_image_seal.py:

S1  What was sealed for a host is opened by that host, in pieces of any size.
S2  A stream that is cut, longer, or changed in any bit is refused, at the latest where
    it ends; nothing of a chunk is returned before all of it is known to be right.
S3  No more than one chunk is held, whatever the stream claims.
"""

import hashlib
import struct

from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import PUBLIC, SIGNATURE, verify
from holdfast.crypto.noise import DH, TAG, CipherState, KeyPair, hkdf
from holdfast.model import errors
from holdfast.model.ids import host_id

CHUNK = 64 * 1024
"""Bytes of a chunk before it is sealed."""

_TITLE = b"holdfast sealed image 1\n"
HEAD = len(_TITLE) + PUBLIC + DH
"""Bytes before the first chunk."""

_FRAME = struct.Struct(">IB")
FRAME = _FRAME.size
MORE, LAST = 0, 1


class SealingStream:
    """The side that seals."""

    def __init__(self, public: bytes, static: bytes, ephemeral: bytes) -> None:
        """Begin a stream for the host with these keys; `ephemeral` is random.

        Raises:
            PeerError: The key is none.

        """
        pair = KeyPair(ephemeral)
        self.head = _TITLE + public + pair.public
        """What the stream begins with."""

        self._cipher = _cipher(self.head, pair.shared_with(static))

    def seal(self, data: bytes, *, is_last: bool) -> bytes:
        """Return the next chunk, of at most CHUNK bytes."""
        end = LAST if is_last else MORE
        sealed = self._cipher.seal(data, bytes((end,)))
        return _FRAME.pack(len(sealed), end) + sealed


class OpeningStream:
    """The side that opens: give it the head, then each frame and what it announces."""

    def __init__(self, head: bytes, us: Identity) -> None:
        """Begin with the first HEAD bytes.

        Raises:
            PeerError: It is no sealed image, or it is for another host.

        """
        if len(head) != HEAD or not head.startswith(_TITLE):
            raise errors.ImageDamaged("it does not begin as a sealed one")
        public, ephemeral = head[len(_TITLE) : -DH], head[-DH:]
        if public != us.public:
            raise errors.ImageForAnotherHost(host_id(public))
        try:
            shared = us.static.shared_with(ephemeral)
        except errors.WeakKey:
            raise errors.ImageDamaged("its key is none") from None
        self._cipher = _cipher(head, shared)
        self.is_over = False
        """Whether the last chunk was opened."""

    def announced(self, frame: bytes) -> int:
        """Return how many bytes belong to the chunk that FRAME bytes begin.

        Raises:
            PeerError: The stream is cut, or has a chunk that none has.

        """
        if len(frame) != FRAME:
            raise errors.ImageDamaged("it is cut")
        size, end = _FRAME.unpack(frame)
        if not TAG <= size <= CHUNK + TAG or end not in (MORE, LAST) or self.is_over:
            raise errors.ImageDamaged("a chunk of it is none")
        return int(size)

    def open(self, frame: bytes, sealed: bytes) -> bytes:
        """Return what is in a chunk.

        Raises:
            PeerError: It was changed, or is not the next one.

        """
        if len(sealed) != self.announced(frame):
            raise errors.ImageDamaged("it is cut")
        end = frame[-1]
        try:
            data = self._cipher.open(sealed, bytes((end,)))
        except errors.SealBroken:
            raise errors.ImageDamaged("its seal is broken") from None
        self.is_over = end == LAST
        return data


def sent_by(us: Identity, head: bytes, manifest: bytes) -> bytes:
    """Return our word that we send this manifest in the stream with this head."""
    return us.sign(_sent(head, manifest))


def check_sent(sender: bytes, head: bytes, manifest: bytes, word: bytes) -> None:
    """Refuse a manifest that `sender`, a public key, did not send in this stream.

    Raises:
        PeerError: It did not.

    """
    is_whole = len(word) == SIGNATURE
    if not is_whole or not verify(sender, _sent(head, manifest), word):
        raise errors.ImageForged(host_id(sender))


def _sent(head: bytes, manifest: bytes) -> bytes:
    return head + hashlib.sha256(manifest).digest()


def _cipher(head: bytes, shared: bytes) -> CipherState:
    key, _ = hkdf(hashlib.sha256(head).digest(), shared, 2)
    return CipherState(key)
