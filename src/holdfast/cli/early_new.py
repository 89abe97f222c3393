"""Creates a session before the rest is loaded, and shows or reports it."""

import os

from holdfast.cli import new_request
from holdfast.cli.new_request import NewOptions
from holdfast.client.wanted_session import proven_facts_by_us
from holdfast.linux import early_requests
from holdfast.linux.stored import folders
from holdfast.wire.first_messages import NotOneOfThese

STARTING = "starting"
"""The state of a session whose command waits for approval."""


def new(options: NewOptions, *, detach: bool, as_json: bool) -> str | None:
    """Create a session; return what `holdfast new --detach` prints.

    Otherwise it is shown, as far as that goes without the rest.
    """
    if not detach and not (os.isatty(0) and os.isatty(1)):
        return None
    if os.path.exists(folders.config_file()) and _is_mistaken():  # noqa: PTH110  # pathlib is slow to load
        return None
    asked = proven_facts_by_us(new_request.asked(options))
    match early_requests.create(asked):
        case {"id": str(session), "name": str(name), "pid": int(pid), **rest}:
            if rest.get("state") == STARTING:
                raise NotOneOfThese
        case _:
            raise NotOneOfThese
    _tell_walls(options, str(rest.get("no_capsule") or ""))
    if detach:
        facts, sentence = new_request.facts, new_request.sentence
        said = facts(session, name, pid) if as_json else sentence(session, name)
        return f"{said}\n"
    if not as_json:  # Else something is printed first.
        from holdfast.cli.early_attach import attach  # noqa: PLC0415  # only here

        attach(session, observes=False, name=name)
    return None


def _tell_walls(options: NewOptions, why_not: str) -> None:
    """Say what does not work in a capsule, or why there is none."""
    if why_not:
        os.write(2, f"{new_request.no_walls(why_not)}\n".encode())
    if options.capsule and os.getuid() != 0:
        os.write(2, f"{new_request.NO_SU}\n".encode())


def _is_mistaken() -> bool:
    """Tell whether something may have to be said about the settings of sessions."""
    from holdfast.linux.stored import config  # noqa: PLC0415  # rarely needed

    if config.mentions(*config.LIMITS):
        return True  # Which need not hold here.
    return config.mentions(*config.OF_SESSIONS) and bool(config.examined()[1])
