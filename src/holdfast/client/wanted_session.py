"""What a request for a session says of us, as the facts that the keeper is sent.

The request is proven with the operator's token, as an attach is. A host elsewhere
knows by the channel who asks, and proves it to its own keeper.

A person's session gets the variables that the person has set. Anybody else who asks
gives only what says what its terminal can do, and what it was told to give: the rest
is what the host has set, and whatever is given beyond that is judged.

Facts, and no records: `holdfast new` waits for this to load. `proven_requests` does
the same for a Creation.
"""

import os
import time

from holdfast.client.profile import our_id, own_facts, own_file
from holdfast.linux.default_shell import default_shell
from holdfast.linux.stored import folders
from holdfast.model.ids import ENTROPY, ActorId, client_id
from holdfast.model.terminal_variables import COLOURS, OF_ONE_TERMINAL, TRUE_COLOURS
from holdfast.wire.creation import proven_bytes, recovery_bytes

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.session_record import Facts

TRAVELLING = frozenset({COLOURS, "LANG", "LC_ALL", "LC_CTYPE"})
"""Variables that describe the viewer's abilities, and apply to all viewers."""

OWN = "HOLDFAST_"
"""Variables that speak of the session we are in, and not of the new one."""

_HUMAN = "human"
"""As in model.actors, which is slow to load."""


def environment(*, is_personal: bool) -> dict[str, str]:
    """Return which of our variables a new session is given."""
    found = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(OWN) and (is_personal or name in TRAVELLING)
    }
    for name in OF_ONE_TERMINAL.intersection(found):
        del found[name]
    if found.get(COLOURS) not in TRUE_COLOURS:
        found.pop(COLOURS, None)
    return found


def as_set(
    command: "Sequence[str]", env: dict[str, str], window: int
) -> "tuple[Sequence[str], dict[str, str], int]":
    """Return what is asked for here, with what the settings say where it says nothing.

    Where there are none, one system call finds that out.
    """
    if not os.path.exists(folders.config_file()):  # noqa: PTH110  # pathlib is slow to load
        return command, env, window
    from holdfast.linux.creation_settings import with_settings  # noqa: PLC0415  # rarely needed

    return with_settings(command, env, window)


def runtime_as_set() -> str | None:
    """Return how sessions run by the settings; None if that is as usual."""
    if not os.path.exists(folders.config_file()):  # noqa: PTH110  # pathlib is slow to load
        return None
    from holdfast.linux.stored import config  # noqa: PLC0415  # rarely needed

    found = config.settings().runtime if config.mentions(b"runtime") else "plain"
    if found == "movable":
        from holdfast.linux.stored import relays  # noqa: PLC0415  # ditto

        # Without one there is nobody to say which host may speak for it.
        return found if relays.written_down() else "capsule"
    return None if found == "plain" else found


def files_as_set() -> str | None:
    """Return whose files a capsule has by the settings; None if that is as usual."""
    if not os.path.exists(folders.config_file()):  # noqa: PTH110  # pathlib is slow to load
        return None
    from holdfast.linux.stored import config  # noqa: PLC0415  # rarely needed

    is_own = config.mentions(b"files") and config.settings().files == "own"
    return "own" if is_own else None


def begun_here(command: "Sequence[str]", cwd: str) -> tuple[list[str], str]:
    """Return the words and the folder of a session of this machine.

    Without words it is our shell; the folder is seen from where we are.

    Raises:
        UsageError: The present folder is gone.

    """
    try:
        folder = os.path.abspath(cwd or ".")  # noqa: PTH100  # a path would resolve links
    except FileNotFoundError:
        from holdfast.model.errors import MalformedArgument  # noqa: PLC0415  # rarely needed

        raise MalformedArgument(
            cwd or ".", "a folder: the present one is gone"
        ) from None
    return [*command] or [default_shell()], folder


def proven_facts(asked: "Facts", actor: ActorId, token: bytes) -> "Facts":
    """Return a request in the name of `actor`, with what proves that."""
    from holdfast.crypto.proof import creation_proof  # noqa: PLC0415  # slow to load

    client = asked.get("client") or client_id(os.urandom(ENTROPY))
    whole = {**asked, "client": client, "creator": actor, "asked_ms": now_ms()}
    written = recovery_bytes(whole) if "recovers" in whole else proven_bytes(whole)
    return {**whole, "proof": creation_proof(token, written).hex()}


def proven_facts_by_us(asked: "Facts") -> "Facts":
    """Return a request in our own name.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    actor = our_id()  # Makes us known if need be.
    return proven_facts(asked, actor, own_token())


def are_we_a_person() -> bool:
    """Tell whether we act as a human.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    our_id()
    return own_facts().get("kind") == _HUMAN


def own_token() -> bytes:
    """Return what proves that a request is ours.

    Raises:
        PeerError: What is known of us is damaged.

    """
    try:
        return own_file("token")
    except OSError:
        from holdfast.client.current_operator import ourselves  # noqa: PLC0415  # slow to load

        return ourselves().token()


def now_ms() -> int:
    """Return the milliseconds since 1970: a proof is good for a while only."""
    return time.time_ns() // 1_000_000
