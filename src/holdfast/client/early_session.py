"""A session reached before the rest of the client is loaded.

Only what is usual: a session of this machine, by its whole name or id, whose socket
answers, for an operator that is known; `early_far` does the same for one elsewhere.
Everything else is left to `keeper`, `driver` and `connection`, which are given what
there is so far: which session was meant, as which client we came, and the link with
all that was said and heard on it. So nothing is done twice, and an attachment is one,
whichever of the two has begun it.

Nothing here may load much (tests/cli/test_start.py has the list): no patterns, no
enumerations, no `socket`, no `typing`.
"""

import _socket
import os
import sys

from holdfast.client.own_name import our_name
from holdfast.core.client.early_link import EarlyLink
from holdfast.linux.stored import folders, session_names
from holdfast.model.ids import (
    ENTROPY,
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    SessionId,
    client_id,
    parse_actor_id,
    parse_session_id,
)
from holdfast.model.text import printable, same_name, shown_name
from holdfast.wire import first_messages

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.relay_link import RelayLink

READ = 256 * 1024
"""Bytes taken from the socket at once."""

SECRET = 32
"""Bytes of chance that our salts are made of; as in core.client.signing."""

MAX_FILE = 4096
"""Bytes of a file in an operator's folder."""

_ACTOR = b'"actor": "'
_ACTOR_ID = 34
_ROTATED = b'"rotations":'


class EarlySession:
    """One session, found by the name given."""

    def __init__(self, asked: str, session: SessionId, name: str) -> None:
        self.asked = asked
        self.id = session
        self.name = name
        self.client: ClientId = client_id(os.urandom(ENTROPY))
        self.secret = os.urandom(SECRET)
        self.talk: EarlyLink | None = None
        """What was said and heard, as long as there is a link."""

        self.actor = ActorId("")
        """Who we are, once it was reached."""

        self._link: _socket.socket | RelayLink | None = None
        self._is_used = False
        self._frames: list[tuple[int, bytes]] = []

    def reach(self, request: bytes) -> bool:
        """Greet the session's holder and send a request; tell whether one is there.

        Raises:
            NotOneOfThese: It answers something unusual.
            HoldfastError: A place is not ours.

        """
        self.actor, prove = self._proving()
        self._link = self._dialled()
        if self._link is None:
            return False
        self.talk = EarlyLink(self.actor, prove, request)
        self._send(self.talk.hello())
        # Slow to load, and there is nothing else to do now.
        import holdfast.crypto.local_proof  # noqa: F401, PLC0415

        while not self.talk.is_greeted:
            self.receive()
        return True

    def receive(self) -> list[tuple[int, bytes]]:
        """Return the frames that come next.

        Raises:
            NotOneOfThese: There is something unusual about them, or about the link.

        """
        if self._frames:
            frames, self._frames = self._frames, []
            return frames
        assert self._link is not None and self.talk is not None, "reach it first"  # noqa: S101, PT018
        if not (raw := first_messages.received(self._link.recv, READ)):
            # The holder has died. Its successor is to be asked, on another link.
            self.hang_up()
            raise first_messages.NotOneOfThese
        answer, frames = self.talk.hear(raw)
        if answer:  # Even nothing cannot be sent to a holder that has hung up.
            self._send(answer)
        return frames

    def waits(self, seconds: float) -> None:
        """Wait so long for what comes next, and no longer."""
        assert self._link is not None, "reach it first"  # noqa: S101
        self._link.settimeout(seconds)

    def put_back(self, frames: list[tuple[int, bytes]]) -> None:
        """Make `receive` return these first."""
        self._frames = frames

    def send(self, raw: bytes) -> None:
        """Send frames.

        Raises:
            NotOneOfThese: The link is broken.

        """
        assert self.talk is not None, "reach it first"  # noqa: S101
        self._send(self.talk.says(raw))

    def attach(
        self,
        mode: str,
        size: tuple[int, int] | None = None,
        after: int | None = None,
    ) -> bytes:
        """Return the request to attach, after a byte; with a `size`, to be painted."""
        fields: first_messages.Fields = {
            "session": self.id,
            "client": self.client,
            "mode": mode,
            "size": size and {"columns": size[0], "rows": size[1]},
            "incarnation": None,
            "after": after,
            "keyframe": size is not None,
        }
        return first_messages.frame(first_messages.ATTACH, fields)

    def hang_up(self) -> None:
        """Close the link; the ordinary code opens another."""
        if self._link is not None:
            self._link.close()
        self._link = self.talk = None

    def take_ids(self) -> tuple[ClientId, bytes] | None:
        """Return the client that came, and its secret; once, they are one client's."""
        if self._is_used:
            return None
        self._is_used = True
        return self.client, self.secret

    def release(self) -> int:
        """Return the descriptor of the link, which the caller now owns."""
        assert self._link is not None, "there is none"  # noqa: S101
        link, self._link = self._link, None
        return link.detach()

    @property
    def label(self) -> str:
        """What people call it, safe to print; as in SessionRecord."""
        return shown_name(self.name) if self.name else printable(self.id)

    @property
    def is_linked(self) -> bool:
        """Whether there is a link that nobody has taken over yet."""
        return self._link is not None

    def _send(self, raw: bytes) -> None:
        assert self._link is not None, "reach it first"  # noqa: S101
        try:
            self._link.sendall(raw)
        except OSError:
            self.hang_up()
            raise first_messages.NotOneOfThese from None

    def _proving(self) -> "tuple[ActorId, Callable[[bytes], bytes]]":
        """Return who we are to the session, and what proves it for a nonce."""
        us = EarlyOperator()
        token = us.token()

        def prove(nonce: bytes) -> bytes:
            from holdfast.crypto.local_proof import local_proof  # noqa: PLC0415  # see `reach`

            return local_proof(token, self.id, nonce)

        return us.actor, prove

    def _dialled(self) -> "_socket.socket | RelayLink | None":
        """Return a link to the session's holder; None if nobody is there."""
        return _dialled(folders.session_address(self.id))


_kept: list[EarlySession] = []


def keep(early: EarlySession) -> None:
    """Let the rest of the client continue what was begun."""
    _kept[:] = [early]


def forget() -> None:
    """Let the rest of the client start afresh."""
    for early in _kept:
        early.hang_up()
    _kept.clear()


def begun(session: str) -> EarlySession | None:
    """Return what was begun with a session."""
    return next((one for one in _kept if one.id == session), None)


def begun_as(text: str) -> EarlySession | None:
    """Return the session of that name, if there is a link to it."""
    return next((one for one in _kept if one.asked == text and one.is_linked), None)


def find(text: str) -> EarlySession | None:
    """Return the session that is called so, or has this id; here, unless it is said.

    The names of sessions are unique. A part of an id may fit others as well, which
    only the keeper knows; then it is asked.

    Raises:
        HoldfastError: The place of the sockets is not ours.

    """
    if "/" in text:
        from holdfast.client import early_far  # noqa: PLC0415  # only who leaves here

        return early_far.find(text)
    if not text:
        return None
    known = session_names.known()
    found = [one for one in known if same_name(known[one], text)]
    if text in known:
        found = [parse_session_id(text)]
    return EarlySession(text, found[0], known[found[0]]) if len(found) == 1 else None


def statement(
    session: EarlySession, made: first_messages.Fields, seed: bytes
) -> bytes | None:
    """Return the frame that signs the first input, or None if there is nothing to sign.

    Raises:
        NotOneOfThese: The input is none.

    """
    from holdfast.core.input.commitments import SentInputs  # noqa: PLC0415  # slow to load
    from holdfast.crypto.keys import SigningKey  # noqa: PLC0415  # ditto

    sent = SentInputs(session.id, session.client, session.secret)
    match made:
        case {
            "incarnation": int(life),
            "epoch": int(epoch),
            "kind": str(kind),
            "payload": bytes(raw),
        }:
            sent.note_next(Incarnation(life), Epoch(epoch), kind, raw)
        case _:
            raise first_messages.NotOneOfThese
    said = sent.statement(SigningKey.from_seed(seed), session.actor, 1)
    return None if said is None else first_messages.frame(first_messages.SIGN, said)


class EarlyOperator:
    """Who we are, as far as it is needed to begin."""

    def __init__(self) -> None:
        """Read it.

        Raises:
            NotOneOfThese: We are not known yet, or what is known is damaged.
            HoldfastError: The name is none, or the place not ours.

        """
        self._folder = f"{folders.operators_folder()}/{our_name()}"
        facts = self._read("operator.json")
        self.actor = _actor_in(facts)
        self._has_first_key = _ROTATED not in facts

    def token(self) -> bytes:
        """Return what proves to a holder who we are.

        Raises:
            NotOneOfThese: There is none.

        """
        return self._read("token")

    def seed(self) -> bytes:
        """Return our private key, if it is the first that we had.

        Raises:
            NotOneOfThese: It is another, or not here.

        """
        if not self._has_first_key:
            raise first_messages.NotOneOfThese
        return self._read("key")

    def _read(self, name: str) -> bytes:
        try:
            with open(f"{self._folder}/{name}", "rb") as file:  # noqa: PTH123  # pathlib is slow to load
                return file.read(MAX_FILE)
        except OSError:
            raise first_messages.NotOneOfThese from None


def _actor_in(facts: bytes) -> ActorId:
    # To read JSON takes longer to load than there is time for. What this says is only
    # who we say that we are: the holder looks at the whole, and at the seal.
    before, _, rest = facts.partition(_ACTOR)
    if not rest or _ACTOR in rest or b"\\" in before:
        raise first_messages.NotOneOfThese
    return parse_actor_id(rest[:_ACTOR_ID].decode("ascii", "replace"))


def _dialled(path: str) -> "_socket.socket | None":
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    link.settimeout(first_messages.PATIENCE)
    try:
        link.connect(path)
        peer = link.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    except OSError:
        link.close()
        return None
    if int.from_bytes(peer[4:8], sys.byteorder) != os.getuid():
        link.close()
        return None
    return link
