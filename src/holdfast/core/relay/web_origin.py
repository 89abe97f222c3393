"""Whether a request is meant for us, and no foreign page sent it.

Theory of operation
-------------------
A foreign page can make a browser connect to any address, one on the
loopback included, and by giving its own name that address it can even make the
browser believe that this is the page's own (DNS rebinding). What it cannot do is
to choose the Host and the Origin that the browser sends. So both are compared,
as whole strings, with the few that are right; nothing is parsed, because what
is parsed can be parsed differently (T52, T53).

Programs send no Origin. A browser always does when it opens a WebSocket; a
request that looks like a browser's and has none was tampered with.

I1  Only a request with exactly one Host, and that one of our names, is accepted.
I2  An Origin is let in only if it is one of our own pages'; it may be missing
    unless the request is a browser's and wants a WebSocket.
I3  A target with a query is refused: that is where secrets leak from (T55).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_BROWSERS_ONLY = ("sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "cookie")


@dataclass(frozen=True, slots=True)
class Asked:
    """The parts of a request that tell where it comes from.

    Names of headers are in lower case, and may come more than once.
    """

    target: str
    headers: Sequence[tuple[str, str]]

    def values(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self.headers if key == name]


class OriginCheck:
    """Who we are, and so who may come in."""

    def __init__(self, names: Iterable[str], scheme: str) -> None:
        self._names = frozenset(names)
        self._origins = frozenset(f"{scheme}://{name}" for name in self._names)

    def objection(self, asked: Asked, *, wants_websocket: bool) -> str:
        """Return why a request is refused, or nothing."""
        hosts, origins = asked.values("host"), asked.values("origin")
        if len(hosts) != 1 or hosts[0] not in self._names:
            return "host"
        if len(origins) > 1 or not self._origins.issuperset(origins):
            return "origin"
        if wants_websocket and not origins and _is_a_browsers(asked):
            return "origin-missing"
        if "?" in asked.target or "#" in asked.target:
            return "query"
        return ""


def _is_a_browsers(asked: Asked) -> bool:
    return any(
        key in _BROWSERS_ONLY or (key == "user-agent" and value.startswith("Mozilla/"))
        for key, value in asked.headers
    )
