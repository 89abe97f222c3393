"""A remote session, reached before the rest of the client is loaded.

As `early_session` does for one of this machine, and what is usual alone: a host whose
file is as we wrote it, its first relay, no proxy on the way, our first key, a session
by its whole name or id. Everything else is left to `host_link` and `remote`, which
begin anew, and have the words for what is wrong.

The relay is dialled before the keys are loaded, so that it answers meanwhile. What was
listed is kept for `keeper`, and the link for `connection`.
"""

import os
import time

from holdfast.client.early_session import EarlyOperator, EarlySession
from holdfast.client.relay_link import RelayLink, dialled
from holdfast.core.client.early_link import VOUCHED_FOR
from holdfast.core.client.relay_way import RelayWay, Wanted
from holdfast.linux.stored import folders
from holdfast.model.ids import (
    ActorId,
    SessionId,
    host_id,
    is_actor_id,
    parse_session_id,
)
from holdfast.model.text import same_name
from holdfast.wire import plain_json
from holdfast.wire.first_messages import NotOneOfThese
from holdfast.wire.first_relay_messages import RelayEndpoint, endpoint_at, is_near

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.crypto.identity import Identity

PATIENCE = 3.0
"""Seconds for the way to a host, and again for each answer of the session; then the
ordinary way begins, which tries other relays too."""

MAX_FILE = 16 * 1024
"""Bytes of a host's file; as in client.hosts."""

_KEY = 32


class EarlyHost:
    """A host elsewhere, as far as it is needed to begin."""

    def __init__(self, name: str) -> None:
        """Read what is known of it.

        Raises:
            NotOneOfThese: Nothing usual.
            HoldfastError: The place is not ours.

        """
        self.name = name
        match _facts_of(name):
            case {
                "host": str(called),
                "public_key": str(public),
                "static_key": str(static),
                "relays": [str(relay), *_],
                **rest,
            }:
                self._keys = _bytes_of(public), _bytes_of(static)
            case _:
                raise NotOneOfThese
        endpoint = endpoint_at(relay)
        if (
            endpoint is None
            or not _is_direct(endpoint)
            or host_id(self._keys[0]) != called
        ):
            raise NotOneOfThese
        self._endpoint = endpoint
        self._actors = rest.get("actors")

    def actor_of(self, us: ActorId) -> ActorId:
        """Return the id by which the host knows one of our operators."""
        known = self._actors if isinstance(self._actors, dict) else {}
        there = known.get(us, us)
        if not is_actor_id(there):
            raise NotOneOfThese
        return ActorId(there)

    def dial(self, us: EarlyOperator, deadline: float) -> RelayLink:
        """Begin to go there.

        Raises:
            NotOneOfThese: We have no key that is usual.
            OSError: The relay does not answer.

        """
        seed = us.seed()
        wanted = Wanted(host_id(self._keys[0]), *self._keys, self._endpoint.name)
        way = RelayWay(wanted, lambda: _identity(seed), os.urandom)
        link = RelayLink(dialled(self._endpoint, deadline), way)
        link.begin()
        return link


class EarlyFarSession(EarlySession):
    """One session elsewhere, found by an address HOST/NAME."""

    def __init__(
        self,
        asked: str,
        session: tuple[SessionId, str],
        host: EarlyHost,
        link: RelayLink,
    ) -> None:
        """Note which session it is, by id and name, and the link to its host."""
        super().__init__(asked, *session)
        self.host = host.name
        self.listed: list[object] = []
        """What the host has, for the code that reads it in full."""

        self._home = host
        self._relay = link

    @property
    def label(self) -> str:
        """What people call it: an address."""
        return f"{self.host}/{super().label}"

    def hang_up(self) -> None:
        """Close the link, also if nobody was led to anything yet."""
        super().hang_up()
        self._relay.close()

    def _proving(self) -> "tuple[ActorId, Callable[[bytes], bytes]]":
        there = self._home.actor_of(EarlyOperator().actor)
        return there, lambda _nonce: VOUCHED_FOR

    def _dialled(self) -> RelayLink:
        self._relay.lead(self.id)
        self._relay.settimeout(PATIENCE)
        self._relay.ended = self._ended
        return self._relay

    def _ended(self, why: str) -> None:
        from holdfast.client import session_location  # noqa: PLC0415  # loaded by now

        session_location.link_ended(self.host, why)


def find(text: str) -> EarlyFarSession | None:
    """Return the session that an address HOST/NAME means, and the link to its host.

    Raises:
        NotOneOfThese: There is something unusual on the way.
        HoldfastError: A place is not ours, or the host is another.
        OSError: The relay does not answer.

    """
    name, _, wanted = text.partition("/")
    if not (name and wanted) or "/" in wanted:
        return None
    try:
        host, us = EarlyHost(name), EarlyOperator()
    except NotOneOfThese:
        return None
    deadline = time.monotonic() + PATIENCE
    link = host.dial(us, deadline)
    try:
        # Slow to load, and the relay has something to do meanwhile.
        import holdfast.crypto.handshake  # noqa: F401, PLC0415

        listed = link.sessions(deadline)
        session = _meant(wanted, listed)
    except BaseException:
        link.close()
        raise
    made = EarlyFarSession(text, session, host, link)
    made.listed = listed
    return made


def _meant(text: str, listed: list[object]) -> tuple[SessionId, str]:
    """Return the id and the name of the one session that is called so.

    Raises:
        NotOneOfThese: There is none, or several.
        HoldfastError: Its id is none.

    """
    known: dict[str, str] = {}
    for facts in listed:
        match facts:
            case {"id": str(session), "name": str(name)}:
                known[session] = name
            case _:
                raise NotOneOfThese
    found = [one for one in known if same_name(known[one], text)]
    if text in known:
        found = [text]
    if len(found) != 1:
        raise NotOneOfThese
    return parse_session_id(found[0]), known[found[0]]


def _facts_of(name: str) -> object:
    """Return what the file of a host says, if holdfast wrote it."""
    path = f"{folders.hosts_folder()}/{name}.json"
    try:
        # A link is not followed, as in `hosts`.
        found = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(found, "rb") as file:
            return plain_json.loads(file.read(MAX_FILE))
    except (OSError, ValueError, RecursionError):
        raise NotOneOfThese from None


def _bytes_of(text: str) -> bytes:
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) != _KEY:
        raise NotOneOfThese
    return raw


def _identity(seed: bytes) -> "Identity":
    from holdfast.crypto.identity import Identity  # noqa: PLC0415  # slow to load

    return Identity.from_seed(seed)


def _is_direct(endpoint: RelayEndpoint) -> bool:
    """Tell whether no proxy leads to a relay."""
    if is_near(endpoint):
        return True
    return not any(
        value and name.lower().endswith("_proxy") and name.lower() != "no_proxy"
        for name, value in os.environ.items()
    )
