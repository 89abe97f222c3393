"""Applies this machine's settings to a request for a session."""

from collections.abc import Sequence

from holdfast.linux.stored import config


def with_settings(
    command: Sequence[str], env: dict[str, str], window: int
) -> tuple[Sequence[str], dict[str, str], int]:
    """Return what is asked for, with what the settings say where it says nothing."""
    if not config.mentions(*config.OF_SESSIONS):
        return command, env, window
    from holdfast.linux import terminfo  # noqa: PLC0415  # rarely needed

    settings = config.settings()
    return (
        command or settings.shell,
        {"TERM": terminfo.usable(settings.term), **env},
        window or settings.window,
    )
