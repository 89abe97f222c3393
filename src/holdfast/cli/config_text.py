"""Settings as text: as a file, as JSON, and with their meanings."""

import json

from holdfast.model.settings import (
    COLOURS,
    FILES,
    KEYS,
    MAX_WINDOW,
    MIN_WINDOW,
    RUNTIMES,
    VIEWS,
    Settings,
    bytes_told,
    key_written,
    seconds_told,
)

MEANING = {
    "prefix": "the prefix key, with Ctrl",
    "view": f"how a session is shown: {', '.join(VIEWS)}",
    "shell": "what `holdfast new` starts without a command: a program, or a list of it"
    " and its arguments (your login shell; bash, if that is `/bin/sh`)",
    "term": "the value of `TERM` in sessions on this machine",
    "window": "output kept for each session:"
    f" {bytes_told(MIN_WINDOW)} to {bytes_told(MAX_WINDOW)}",
    "runtime": f"how `holdfast new` starts sessions here: {', '.join(RUNTIMES)}",
    "files": f"the files of a capsule that `holdfast new` starts: {', '.join(FILES)}",
    "memory": "memory limit of a capsule, 16M or more, such as 2G; 0 is no limit",
    "cpus": "CPUs that a capsule may use, such as 1.5; 0 is no limit",
    "pids": "processes that a capsule may have, 16 or more; 0 is no limit",
    "keys.detach": "detach; the session keeps running",
    "keys.help": "list the keys",
    "keys.switch": "choose another session",
    "keys.next": "the next session, by age",
    "keys.previous": "the previous session, by age",
    "keys.last": "the session shown before this one",
    "keys.new": "start a session and switch to it",
    "keys.rename": "rename the session",
    "keys.take": "take the turn, or ask for it",
    "keys.give": "give the turn to another operator",
    "keys.drop": "release the turn",
    "keys.seize": "take the turn from its holder",
    "keys.seize-and-freeze": "the same, and stop every process",
    "keys.freeze": "stop every process, or resume them",
    "keys.approve": "approve a pending input, after asking",
    "keys.deny": "deny a pending input, or refuse the turn",
    "keys.who": "show who is attached",
    "keys.view": "switch between raw and framed view",
    "keys.look-back": "scroll back, search, copy",
    "keys.pan-left": "the part of a larger session to the left",
    "keys.pan-down": "the part below",
    "keys.pan-up": "the part above",
    "keys.pan-right": "the part to the right",
    "colours.notice": "holdfast's own lines on the screen",
    "colours.selected": "the selected row of a list",
    "colours.faint": "less important text",
    "notifications.bell": "ring the bell when you have to act",
    "notifications.desktop": "also send a desktop notification (OSC 9)",
    "recover.automatic": "recover a lost session on attach, without asking",
    "recover.environment": "store the environment of sessions on disk, encrypted,"
    " for recovery",
    "images.keep": "how many images without a label are kept for each session",
    "images.size": "how much space all images may take; the oldest are removed first;"
    " images with a label stay",
    "reap.after": "end sessions that were not used for so long; 0s never does",
    "reap.warning": "how long before the end a session is warned about",
    "reap.people": "also end sessions that people started, not only agents'",
    "reap.checkpoint": "save capsules to disk before they end, if possible",
    "reap.sessions": "how many sessions may run; the longest idle end first; 0 is any",
    "reap.memory": "how much memory all sessions may use; likewise; 0 is any",
    "checkpoints.every": "how often an active capsule is saved to disk; 0s never does",
    "checkpoints.to": "host that keeps a copy of each, of movable sessions",
    "drain.at-end": "drain when the host gets SIGTERM",
    "drain.deadline": "how long a drain may take",
    "drain.to": "the host that movable sessions go to; empty for none",
    "metrics.listen": "where the host serves metrics: 127.0.0.1:9464, or [::1]:9464;"
    " empty: nowhere",
    "record.mask": "regular expressions of more secrets that recordings hide",
    "record.keep": "how many recordings are kept in the usual folder",
    "record.size": "how much space they may take; the oldest are removed first",
    "record.age": "how long they are kept; 0s is any time",
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
        "files": settings.files,
        "memory": bytes_told(settings.memory),
        "cpus": settings.millicpus / 1000,
        "pids": settings.pids,
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
        "images": {
            "keep": settings.images_kept,
            "size": bytes_told(settings.images_size),
        },
        "reap": {
            "after": seconds_told(settings.host.reap.after),
            "warning": seconds_told(settings.host.reap.warning),
            "people": settings.host.reap.people,
            "checkpoint": settings.host.reap.checkpoint,
            "sessions": settings.host.reap.sessions,
            "memory": bytes_told(settings.host.reap.memory),
        },
        "checkpoints": {
            "every": seconds_told(settings.host.checkpoints_every),
            "to": settings.host.checkpoints_to,
        },
        "drain": {
            "at-end": settings.host.drains_at_end,
            "deadline": seconds_told(settings.host.drain_deadline),
            "to": settings.host.drain_to,
        },
        "metrics": {"listen": settings.host.metrics_listen},
        "record": {
            "mask": list(settings.recordings.mask),
            "keep": settings.recordings.keep,
            "size": bytes_told(settings.recordings.size),
            "age": seconds_told(settings.recordings.age),
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
