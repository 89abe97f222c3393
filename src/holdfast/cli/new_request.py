"""What `holdfast new` asks for, and what it says when that is there.

Apart from the verb, because it is asked for before the rest is loaded.
"""

import os

from holdfast.client.wanted_session import (
    are_we_a_person,
    as_set,
    begun_here,
    environment,
    runtime_as_set,
)
from holdfast.model.text import checked_name, shown_name
from holdfast.wire import plain_json

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.session_record import Facts


NO_SU = "holdfast: in a capsule sudo and su do not work, and who shows nobody"
"""Shown to a user who starts a capsule and is not root."""


class NewOptions:
    """The options of `new`, as they are if nobody says otherwise."""

    def __init__(self, command: list[str], name: str | None = None) -> None:
        self.command = command
        self.name = name
        self.on: str | None = None
        self.cwd: str | None = None
        self.env: list[str] = []
        self.size: str | None = None
        self.no_integration = False
        self.exec_gate = False
        self.capsule = False
        self.plain = False
        self.net: str | None = None
        self.window: str | None = None


def asked(options: NewOptions) -> "Facts":
    """Return what is asked for: the packet of a Creation, without what is usual.

    Raises:
        UsageError: An option is none.

    """
    env = environment(is_personal=not options.on and are_we_a_person())
    if options.env:
        from holdfast.cli.arguments import variable_from  # noqa: PLC0415  # rarely needed

        env |= dict(map(variable_from, options.env))
    name = None if options.name is None else checked_name(options.name)
    # Elsewhere, shell and home are those of the other machine.
    command: Sequence[str] = options.command
    folder, window = options.cwd or "", _window(options.window)
    if not options.on:
        command, env, window = as_set(command, env, window)
        command, folder = begun_here(command, folder)
    wanted: Facts = {
        "name": name,
        "command": [*command] or None,
        "cwd": folder or None,
        "env": env,
        "size": _size(options.size),
        "integration": not options.no_integration or None,
        "exec_gate": options.exec_gate or None,
        "window": window or None,
        "runtime": _runtime(options),
        "net": options.net,
    }
    said = {name: value for name, value in wanted.items() if value is not None}
    return {"do": "create", **said}


def facts(session: str, name: str, pid: int) -> str:
    """Return what programs are told of a session that was made."""
    return plain_json.dumps({"id": session, "name": name, "pid": pid})


def sentence(session: str, name: str, host: str = "") -> str:
    """Return what people are told of a session that was made."""
    label = shown_name(name) if name else session
    label = f"{host}/{label}" if host else label
    return f"{label} ({session}) is running; attach with `holdfast attach {label}`"


def _window(asked: str | None) -> int:
    """Return how many bytes of output to keep; 0 leaves it to the settings."""
    if asked is None:
        return 0
    from holdfast.cli.arguments import window_from  # noqa: PLC0415  # rarely needed

    return window_from(asked)


def _runtime(options: NewOptions) -> str | None:
    """Return how it is to run; None leaves it to the settings and to the host."""
    if options.net is not None and not options.capsule:
        from holdfast.model.errors import MalformedArgument  # noqa: PLC0415  # rarely needed

        raise MalformedArgument("--net", "choice without --capsule")
    if options.capsule:
        return "capsule"
    if options.plain:
        return "plain"
    return None if options.on else runtime_as_set()


def _size(asked: str | None) -> list[int] | None:
    """Return the size asked for, or this terminal's; None leaves it to the holder."""
    if asked is None:
        try:
            found = os.get_terminal_size(1)
        except OSError:
            return None
        # A terminal that does not know says 0; what is too large is made to fit.
        return [found.columns, found.lines] if all(found) else None
    from holdfast.cli.arguments import size_from  # noqa: PLC0415  # slow to load
    from holdfast.model.geometry import Size  # noqa: PLC0415  # ditto

    size = Size(*size_from(asked))
    return [size.columns, size.rows]
