"""Formats who is behind something, for people and for programs."""

import time
from collections.abc import Iterator

from holdfast.cli.operator_names import Names
from holdfast.client.blame_query import Touched, Traced
from holdfast.core.shell.shell_state import SECRET
from holdfast.model.ids import ActorId
from holdfast.model.text import printable
from holdfast.wire.blame import Behind, BlameReport

MAX_SHOWN = 60
"""Characters shown of a line or a command; --json has all of it."""

SHORT = 16
"""Hexadecimal digits shown of a digest; --json has them all."""

_SILENT = (
    "The shell is not at its prompt, or no longer reports: changes since its last"
    " prompt are not known yet."
)


def item_told(what: str, report: BlameReport, names: Names) -> Iterator[str]:
    """Say who is behind a part of the shell's state; `what` names it."""
    match report.standing:
        case "initial":
            said = f"{what}: unchanged since the shell started"
        case "absent":
            said = f"{what}: not set, and not set when the shell started"
        case "changed" if report.behind is not None:
            how = {"added": "set", "": "set or changed"}.get(report.how, report.how)
            said = f"{what}: {printable(how)} by {behind_told(report.behind, names)}"
        case _:
            said = f"{what}: who set it is not known"
    if report.digest:
        said += f"; {_digest(report.digest)}"
    if report.used is not None:
        said += f"; last typed by {behind_told(report.used, names)}"
    yield said
    if report.silent:
        yield _SILENT


def behind_told(behind: Behind, names: Names) -> str:
    """Return who is behind something, as part of a sentence."""
    when = _clock(behind.at_ms)
    if behind.first and behind.first != behind.command:
        which = (
            f"one of the commands {behind.first} to {behind.command}, from {when} on"
        )
    elif behind.first:
        which = f"command {behind.command}, {when}, unless it was so before"
    else:
        which = f"command {behind.command}, `{_line(behind.line)}`, {when}"
    who = names.shown(behind.trigger) if behind.trigger else "an unknown operator"
    others = [actor for actor in behind.authors if actor != behind.trigger]
    hands = f"; typed by {_listed(behind.authors, names)}" if others else ""
    return f"{who} ({which}{hands})"


def process_told(traced: Traced, names: Names) -> str:
    """Say who started a process, and how that is known."""
    process, report = traced.process, traced.report
    what = f"process {process.pid}, `{printable(process.command, MAX_SHOWN)}`"
    starter = names.shown(process.actor) if process.actor else "nobody known"
    if traced.is_leader:
        return f"{what}: the session's own program, started by {starter}"
    via = ""
    if traced.root.pid != process.pid:
        via = f", below process {traced.root.pid}"
    if traced.root.is_by_time:
        via += ", known by time only, as its parents are gone"
    match report.standing:
        case "changed" if report.behind is not None:
            return f"{what}: started by {behind_told(report.behind, names)}{via}"
        case "none" if process.actor:
            return f"{what}: started with the shell, by {starter}{via}"
        case "none":
            return f"{what}: started while no command ran{via}"
        case _:
            return f"{what}: who started it is not known{via}"


def file_told(touched: Touched, names: Names) -> str:
    """Say who was active when a file or a link was last changed."""
    fact, report = touched
    what = f"{fact.kind} {printable(fact.path)}"
    if fact.target:
        what += f" → {printable(fact.target)}"
    when = _clock(fact.ctime_ns // 1_000_000)
    match report.standing:
        case "changed" if report.behind is not None:
            who = f"while this ran: {behind_told(report.behind, names)}"
        case "none":
            who = (
                "while no command ran: by a background process, or from"
                " outside the session"
            )
        case _:
            who = "which command ran then is not known"
    said = f"{what}: last changed at {when}, {who}"
    if fact.digest:
        return f"{said}; sha256 {fact.digest[:SHORT]}"
    return f"{said}; no digest: {printable(fact.why)}" if fact.why else said


def line_told(report: BlameReport, names: Names) -> Iterator[str]:
    """Say, part by part, who typed the unsubmitted line."""
    if report.standing == "none":
        yield "no unsubmitted input"
        return
    start = 0
    for one in report.by:
        text = report.staged[start : start + one.size].decode(
            "utf-8", "backslashreplace"
        )
        start += one.size
        yield f"`{printable(text, len(text))}` typed by {names.shown(one.actor)}"
    if report.hidden:
        yield f"{report.hidden} bytes, not echoed, by {_listed(report.others, names)}"
    if report.edited:
        others = f", also by {_listed(report.others, names)}" if report.others else ""
        yield f"It was edited{others}: the line may read differently."


def report_facts(report: BlameReport) -> dict[str, object]:
    """Return who is behind something as a JSON object."""
    return {
        "standing": report.standing,
        "how": report.how or None,
        "digest": _digest_fact(report.digest),
        "origin": None if report.behind is None else behind_facts(report.behind),
        "last_typed": None if report.used is None else behind_facts(report.used),
        "silent": report.silent,
    }


def behind_facts(behind: Behind) -> dict[str, object]:
    """Return a command, or a range of which one is meant, as a JSON object."""
    return {
        "command": behind.command,
        "first": behind.first or behind.command,
        "sure": not behind.first,
        "trigger": behind.trigger or None,
        "authors": list(behind.authors),
        "line": behind.line or None,
        "at": behind.at_ms,
    }


def process_facts(traced: Traced) -> dict[str, object]:
    """Return who started a process as a JSON object."""
    return {
        "pid": traced.process.pid,
        "started_ticks": traced.process.started_ticks,
        "command": traced.process.command,
        "root": traced.root.pid,
        "by_time": traced.root.is_by_time,
        "actor": traced.process.actor or None,
        **report_facts(traced.report),
    }


def file_facts(touched: Touched) -> dict[str, object]:
    """Return who was active when a file was last changed, as a JSON object."""
    fact, report = touched
    return {
        "path": fact.path,
        "kind": fact.kind,
        "ctime_ns": fact.ctime_ns,
        "size": fact.size,
        "target": fact.target or None,
        **report_facts(report),
        "digest": fact.digest or None,
        "no_digest": fact.why or None,
        "by_time": True,
    }


def line_facts(report: BlameReport) -> dict[str, object]:
    """Return who typed the unsubmitted line, as a JSON object."""
    return {
        "staged": report.staged.decode("utf-8", "backslashreplace"),
        "by": [{"size": one.size, "actor": one.actor} for one in report.by],
        "others": list(report.others),
        "edited": report.edited,
        "hidden": report.hidden,
    }


def is_named(report: BlameReport) -> bool:
    """Tell whether an operator is named."""
    behind = report.behind
    return behind is not None and bool(behind.trigger or behind.authors)


def _listed(actors: tuple[ActorId, ...], names: Names) -> str:
    return " and ".join(names.shown(actor) for actor in actors) or "nobody known"


def _digest(raw: bytes) -> str:
    if raw.startswith(SECRET):
        return f"its value is secret, {printable(raw.decode('ascii', 'replace'))}"
    return f"digest {raw.hex()[:SHORT]}"


def _digest_fact(raw: bytes) -> str | None:
    if raw.startswith(SECRET):
        return None
    return raw.hex() or None


def _line(line: str) -> str:
    return printable(line, MAX_SHOWN)


def _clock(at_ms: int) -> str:
    """Return a time of day, with the date if that is not today."""
    try:
        then, today = time.localtime(at_ms / 1000), time.localtime()
    except (ValueError, OverflowError, OSError):
        return "at an impossible time"
    is_today = then[:3] == today[:3]
    return time.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S", then)
