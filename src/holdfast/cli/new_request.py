"""The request of `holdfast new`, and the messages after it.

Apart from the verb, because it is asked for before the rest is loaded.
"""

import os

from holdfast.client.wanted_session import (
    are_we_a_person,
    as_set,
    begun_here,
    environment,
    files_as_set,
    runtime_as_set,
)
from holdfast.model.text import checked_name, shown_name
from holdfast.wire import plain_json

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.session_record import Facts


NO_SU = "holdfast: in a capsule sudo and su do not work, and who prints nothing"
"""Shown to a user who starts a capsule and is not root."""


OWN_FILES = (
    "holdfast: what it changes is kept apart, and your files stay as they are;"
    " what is not yours to change is read-only"
)
"""Shown to a user who starts a capsule with files of its own."""


def no_walls(why: str) -> str:
    """Return what is said of a session that was to be a capsule, and is plain."""
    return f"holdfast: no capsule could be made, so the session is plain: {why}"


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
        self.files: str | None = None
        self.movable = False
        self.window: str | None = None
        self.memory: str | None = None
        self.cpus: str | None = None
        self.pids: str | None = None


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
    runtime = _runtime(options)
    is_capsule = runtime in ("capsule", "movable") and not options.on
    files = files_as_set() if is_capsule else None
    wanted: Facts = {
        "name": name,
        "command": [*command] or None,
        "cwd": folder or None,
        "env": env,
        "size": _size(options.size),
        "integration": not options.no_integration or None,
        "exec_gate": options.exec_gate or None,
        "window": window or None,
        "runtime": "capsule" if runtime == "movable" else runtime,
        "net": options.net,
        "files": options.files or files,
        "movable": runtime == "movable" or None,
        **_limits(options),
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
    of_capsules = ("net", "files", "memory", "cpus", "pids")
    said = [name for name in of_capsules if getattr(options, name) is not None]
    runtime = "capsule" if options.capsule else None
    if options.movable:
        runtime = "movable"
    if runtime is None and not options.plain and not options.on:
        runtime = runtime_as_set()
    if said and runtime is None:
        from holdfast.model.errors import MalformedArgument  # noqa: PLC0415  # rarely needed

        raise MalformedArgument(f"--{said[0]}", "an option without --capsule")
    if options.movable and options.plain:
        from holdfast.model.errors import MalformedArgument  # noqa: PLC0415  # ditto

        raise MalformedArgument("--movable", "choice with --plain")
    return "plain" if options.plain else runtime


def _limits(options: NewOptions) -> "Facts":
    given = {"memory": options.memory, "cpus": options.cpus, "pids": options.pids}
    said = {name: text for name, text in given.items() if text is not None}
    if not said:
        return {}
    from holdfast.cli.arguments import limit_from_text  # noqa: PLC0415  # rarely needed

    found = {name: limit_from_text(name, text) for name, text in said.items()}
    return {"millicpus" if name == "cpus" else name: one for name, one in found.items()}


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
