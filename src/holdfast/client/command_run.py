"""Commands in a session's shell, for blocking programs.

The client that sends a command exists for this command only. With a key its id is made
of the key, so that a repeat, after whatever died, comes from the same client to the
holder, and is told what came of the first.
"""

import hashlib
import time
from collections.abc import Callable

from holdfast.client.calls import Held
from holdfast.client.driver import attachment_to, converse, new_client
from holdfast.core.client.command_output import Ran
from holdfast.core.client.command_run import CommandRun, Wish
from holdfast.core.client.repl_run import ReplRun
from holdfast.model.errors import HoldfastError, MalformedArgument
from holdfast.model.ids import ENTROPY, ActorId, ClientId, client_id
from holdfast.model.text import printable

MAX_KEY = 256
"""Characters of a key."""


def run(  # noqa: PLR0913  # what to run, where, and for how long
    session: str,
    client: ClientId | None,
    line: bytes,
    wish: Wish,
    deadline: float,
    held: Held | None = None,
    *,
    printed: Callable[[bytes], None] | None = None,
) -> Ran:
    """Type a line at the prompt, once, and wait for what is wished.

    It is typed by `client`, or by one that did not exist before. What the command
    prints is passed to `printed` as it comes.

    Raises:
        Unavailable: The shell is not at its prompt.
        Unsettled: It was typed, and what came of it is not known.
        HoldfastError: It was refused, and why.

    """
    attachment = attachment_to(session, client=client)
    if held is not None:
        attachment.held = held
    now = time.monotonic()
    made = CommandRun(attachment, line, wish, now=now, deadline=deadline)
    if printed is not None:
        made.printed = printed
    return converse(session, made)


def run_in_interpreter(
    session: str,
    line: bytes,
    wish: Wish,
    refused: HoldfastError,
    deadline: float,
    printed: Callable[[bytes], None] | None = None,
) -> Ran:
    """Type a line into an interpreter that has no marks; its prompt says when it ended.

    Raises:
        HoldfastError: `refused`, if there is none at its prompt; or as `run`.

    """
    now = time.monotonic()
    attachment = attachment_to(session)
    made = ReplRun(attachment, line, wish, refused, now=now, deadline=deadline)
    if printed is not None:
        made.printed = printed
    return converse(session, made)


def check_key(key: str | None) -> None:
    """Do nothing if commands can have this key, or have none.

    Raises:
        UsageError: It is empty or too long.

    """
    if key is not None and not 0 < len(key) <= MAX_KEY:
        wanted = f"a key of 1 to {MAX_KEY} characters"
        raise MalformedArgument(printable(key, 64), wanted)


def client_of(session: str, actor: ActorId, key: str | None) -> ClientId:
    """Return the client that runs a command: of the key, or one never used before.

    Raises:
        UsageError: The key is empty or too long.

    """
    if key is None:
        return new_client()
    check_key(key)
    parts = ("holdfast run", session, actor, key)
    digest = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape"))
    return client_id(digest.digest()[:ENTROPY])
