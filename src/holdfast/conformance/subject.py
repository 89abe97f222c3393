"""What is checked: where it is, which session, and who we are there."""

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from holdfast.conformance.kinds import VERSION
from holdfast.conformance.link import Carrier, Closed, Link, Message, Notes
from holdfast.conformance.verdict import Broken, NotTried

PRODUCT = "holdfast conformance"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator whom the subject knows."""

    name: str
    actor: str
    kind: str
    token: bytes


@dataclass(slots=True)
class Subject:
    """A session of an implementation."""

    address: str
    session: str
    dial: Callable[[], Carrier]
    first: Operator
    """Who has every right there."""

    second: Operator | None
    """Who may type, and neither seize nor freeze."""

    notes: Notes = field(default_factory=Notes)
    _open: list[Link] = field(default_factory=list)

    def other(self) -> Operator:
        """Return the second operator.

        Raises:
            NotTried: There is none.

        """
        if self.second is None:
            raise NotTried("it takes a second operator, who may not seize")
        return self.second

    @contextmanager
    def links_closed(self) -> Iterator[None]:
        """Close what is opened in there."""
        try:
            yield
        finally:
            while self._open:
                self._open.pop().close()

    def link(self) -> Link:
        """Dial."""
        try:
            found = Link(self.dial(), self.notes)
        except OSError as error:
            raise Broken(f"{self.address}: {error.strerror or error}") from error
        self._open.append(found)
        return found

    def greeted(self) -> tuple[Link, bytes]:
        """Dial and say hello; return the nonce that must be answered."""
        link = self.link()
        link.send("HELLO", versions=[VERSION], product=PRODUCT, client="service")
        self._next(link, "WELCOME")
        return link, bytes(self._next(link, "CHALLENGE")["nonce"])

    def _next(self, link: Link, name: str) -> Message:
        try:
            found = link.receive()
        except Closed as error:
            raise Broken(f"it hung up instead of sending {name}") from error
        if found is None or found.name != name:
            came = "nothing" if found is None else found.name
            raise Broken(f"{came} came and not {name}")
        return found

    def proof(self, operator: Operator, nonce: bytes) -> bytes:
        """Return what proves who we are."""
        said = b"holdfast local 1\n" + self.session.encode() + b"\n" + nonce
        return hmac.digest(operator.token, said, hashlib.sha256)

    def proven(self, operator: Operator | None = None) -> Link:
        """Return a link on which we have shown who we are."""
        operator = operator or self.first
        link, nonce = self.greeted()
        proof = self.proof(operator, nonce)
        link.send("IDENTIFY", actor=operator.actor, proof=proof)
        return link

    def attached(
        self,
        operator: Operator | None = None,
        *,
        client: str = "",
        mode: str = "operate",
        after: int | None = None,
        incarnation: int | None = None,
    ) -> tuple[Link, Message]:
        """Return a link that is attached, and how things stand."""
        link = self.proven(operator)
        link.send(
            "ATTACH",
            session=self.session,
            client=client or new_client(),
            mode=mode,
            size=None,
            incarnation=incarnation,
            after=after,
            keyframe=False,
        )
        found = link.wait("ATTACHED", "REFUSE")
        if found.name == "REFUSE":
            raise Broken(f"it does not let {(operator or self.first).name} attach")
        return link, found


def new_client() -> str:
    """Return the id of a client that was never used."""
    return "c_" + _letters(10)


def _letters(size: int) -> str:
    return base64.b32encode(os.urandom(size)).decode().rstrip("=").lower()


def new_line() -> bytes:
    """Return a line that was never typed before."""
    return f"conformance-{secrets.token_hex(8)}".encode()
