"""What `holdfast new` asks for, and what it says when that is there.

Apart from the verb, because it is asked for before the rest is loaded.
"""

import json
import os

from holdfast.client.proven_requests import are_we_a_person, environment, made_here
from holdfast.model.session_record import Cells
from holdfast.model.session_requests import Created, Creation
from holdfast.model.text import checked_name, shown_name


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


def asked(options: NewOptions) -> Creation:
    """Return what is asked for.

    Raises:
        UsageError: An option is none.

    """
    env = environment(is_personal=not options.on and are_we_a_person())
    if options.env:
        from holdfast.cli.arguments import variable_from  # noqa: PLC0415  # rarely needed

        env |= dict(map(variable_from, options.env))
    name = None if options.name is None else checked_name(options.name)
    wanted = Creation(
        name=name,
        command=tuple(options.command),
        cwd=options.cwd or "",
        env=env,
        size=_size(options.size),
        integration=not options.no_integration,
        exec_gate=options.exec_gate,
    )
    # Elsewhere, shell and home are those of the other machine.
    return wanted if options.on else made_here(wanted)


def facts(made: Created) -> str:
    """Return what programs are told of a session that was made."""
    return json.dumps({"id": made.id, "name": made.name, "pid": made.pid})


def sentence(made: Created, host: str = "") -> str:
    """Return what people are told of a session that was made."""
    label = shown_name(made.name) if made.name else made.id
    label = f"{host}/{label}" if host else label
    return f"{label} ({made.id}) is running; attach with `holdfast attach {label}`"


def _size(asked: str | None) -> Cells | None:
    """Return the size asked for, or this terminal's; None leaves it to the holder."""
    if asked is None:
        try:
            found = os.get_terminal_size(1)
        except OSError:
            return None
        # A terminal that does not know says 0; what is too large is made to fit.
        return Cells(found.columns, found.lines) if all(found) else None
    from holdfast.cli.arguments import size_from  # noqa: PLC0415  # slow to load
    from holdfast.model.geometry import Size  # noqa: PLC0415  # ditto

    size = Size(*size_from(asked))
    return Cells(size.columns, size.rows)
