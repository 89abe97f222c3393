"""The settings, and the notice about mistakes in them."""

from holdfast.linux.stored import config
from holdfast.model.settings import Settings


def settings_told() -> tuple[Settings, list[str]]:
    """Return what is in force, and a line about the file if it has mistakes."""
    settings, problems = config.examined()
    if not problems:
        return settings, []
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return settings, [f"config.toml: {problems[0]}{more}; defaults are used"]
