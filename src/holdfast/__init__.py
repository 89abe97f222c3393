"""Live executions that nobody owns and nobody's departure ends.

    import holdfast

    async with holdfast.connect() as host:
        session = await host.create(name="build")
        print((await session.run("make")).status)

`holdfast.sync` is the same without `await`; `holdfast.errors` is what is raised. What
is named here is loaded when it is first used: the command line needs none of it.
"""

from holdfast.version import __version__

TYPE_CHECKING = False
"""Only checkers take it for true; the module that has it is slow to load."""

if TYPE_CHECKING:
    import holdfast.sdk.sync as sync  # noqa: PLR0402  # mypy finds it only this way
    from holdfast.model import errors
    from holdfast.model.geometry import Size
    from holdfast.model.limits import Limits
    from holdfast.sdk import events
    from holdfast.sdk.events import Event
    from holdfast.sdk.host import Host, connect
    from holdfast.sdk.session import Session
    from holdfast.sdk.values import (
        Chunk,
        CommandResult,
        Cursor,
        ImageInfo,
        Listening,
        LostSession,
        Match,
        Screen,
        SessionInfo,
        Standing,
        State,
        Stop,
    )
    from holdfast.wire.messages import Pending, Preview

__all__ = [
    "Chunk",
    "CommandResult",
    "Cursor",
    "Event",
    "Host",
    "ImageInfo",
    "Limits",
    "Listening",
    "LostSession",
    "Match",
    "Pending",
    "Preview",
    "Screen",
    "Session",
    "SessionInfo",
    "Size",
    "Standing",
    "State",
    "Stop",
    "__version__",
    "connect",
    "errors",
    "events",
    "sync",
]

_MODULES = {
    "errors": "holdfast.model.errors",
    "events": "holdfast.sdk.events",
    "sync": "holdfast.sdk.sync",
}
_HOMES = {
    "Event": "holdfast.sdk.events",
    "Host": "holdfast.sdk.host",
    "Limits": "holdfast.model.limits",
    "Pending": "holdfast.wire.messages",
    "Preview": "holdfast.wire.messages",
    "Session": "holdfast.sdk.session",
    "Size": "holdfast.model.geometry",
    "connect": "holdfast.sdk.host",
}


def __getattr__(name: str) -> object:
    import importlib  # noqa: PLC0415  # the command line does without

    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(_HOMES.get(name, "holdfast.sdk.values"))
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted(__all__)
