"""Settings as text: as the file has them, as JSON, and as the manual tells of them."""

import json

from holdfast.model.settings import (
    COLOURS,
    KEYS,
    MAX_WINDOW,
    MIN_WINDOW,
    RUNTIMES,
    VIEWS,
    Settings,
    bytes_told,
    key_written,
)

MEANING = {
    "prefix": "the key before the others, with Ctrl",
    "view": f"how a session is shown: {', '.join(VIEWS)}",
    "shell": "what `holdfast new` starts without a command: a program, or a list of it"
    " and its arguments (your login shell)",
    "term": "what sessions on this machine find in `TERM`",
    "window": "output kept for each session:"
    f" {bytes_told(MIN_WINDOW)} to {bytes_told(MAX_WINDOW)}",
    "runtime": f"how `holdfast new` starts sessions here: {', '.join(RUNTIMES)}",
    "keys.detach": "leave the session running, and go",
    "keys.help": "list the keys",
    "keys.switch": "choose another session",
    "keys.next": "the next session, by age",
    "keys.previous": "the previous session, by age",
    "keys.last": "the session that was shown before this one",
    "keys.new": "start a session, and show it",
    "keys.rename": "rename the session",
    "keys.take": "take the turn, or ask for it",
    "keys.give": "give the turn to somebody",
    "keys.drop": "release the turn",
    "keys.seize": "take the turn from its holder",
    "keys.seize-and-freeze": "the same, and stop every process",
    "keys.freeze": "stop every process, or let them go on",
    "keys.approve": "approve what waits, after a question",
    "keys.deny": "deny what waits, or refuse the turn",
    "keys.who": "say who is attached",
    "keys.view": "show the session raw, or framed",
    "keys.look-back": "see what has scrolled away, search it, copy it",
    "keys.pan-left": "the part of a larger session to the left",
    "keys.pan-down": "the part below",
    "keys.pan-up": "the part above",
    "keys.pan-right": "the part to the right",
    "colours.notice": "lines of holdfast on the screen",
    "colours.selected": "the chosen row of a list",
    "colours.faint": "what matters less",
    "notifications.bell": "ring the bell when somebody has to act",
    "notifications.desktop": "and ask the terminal for a notification (OSC 9)",
    "recover.automatic": "recover a lost session as soon as somebody attaches to it",
    "recover.environment": "keep the environment of sessions on disk, sealed, so that"
    " they are recovered with it",
}
"""What can be set, and what it means."""


def facts(settings: Settings) -> dict[str, object]:
    """Return what is in force, as JSON says it."""
    return {
        "prefix": key_written(settings.prefix),
        "view": settings.view,
        "shell": list(settings.shell),
        "term": settings.term,
        "window": bytes_told(settings.window),
        "runtime": settings.runtime,
        "keys": {
            what: key_written(settings.keys[what]) if what in settings.keys else ""
            for what in KEYS
        },
        "colours": {what: settings.colours[what] for what in COLOURS},
        "notifications": {"bell": settings.bell, "desktop": settings.desktop},
        "recover": {
            "automatic": settings.recovers,
            "environment": settings.keeps_environment,
        },
    }


def values(settings: Settings) -> dict[str, str]:
    """Return what is in force as the file would say it, by name."""
    found: dict[str, str] = {}
    for name, value in facts(settings).items():
        if isinstance(value, dict):
            found |= {f"{name}.{one}": _toml(value[one]) for one in value}
        else:
            found[name] = _toml(value)
    return found


def written(settings: Settings) -> str:
    """Return a file that says what is in force, each with what it means."""
    lines: list[str] = []
    table = ""
    for name, value in values(settings).items():
        section, _, own = name.rpartition(".")
        if section != table:
            table = section
            lines += ["", f"[{section}]"]
        lines.append(f"{own} = {value}  # {MEANING[name]}")
    return "\n".join(lines)


def _toml(value: object) -> str:
    # JSON is TOML here, but for one character that TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
