"""Formats who is attached and who has the turn, in words and for programs."""

import json

import msgspec

from holdfast.cli.operator_names import Names
from holdfast.core.client.questions import Done
from holdfast.model.inputs import InputKind
from holdfast.model.text import printable
from holdfast.wire.messages import MAX_EXCERPT, Pending, Preview, Staged
from holdfast.wire.presence import Inherited, Presence

MAX_THINGS = 8
"""Changes named per operator; `blame` and the log have them all."""

MAX_LINE = 250
"""Characters of one line of a preview."""

MAX_SHOWN = 4 * MAX_EXCERPT
"""Characters of an excerpt in which every byte is an escape."""


def names_of(done: Done) -> Names:
    """Return the names of the operators in the answer to a request."""
    names = Names(done.us)
    names.meet(done.presence.present)
    return names


def turn_told(presence: Presence, names: Names) -> str:
    """Return who has the turn, as a sentence."""
    if not presence.holder:
        return f"the turn is free (epoch {presence.epoch})"
    has = "have" if presence.holder == names.us else "has"
    return f"{names.you(presence.holder)} {has} the turn (epoch {presence.epoch})"


def inherited_told(inherited: Inherited, names: Names) -> str:
    """Return what comes with the turn, as a sentence."""
    parts = []
    if inherited.staged:
        by = ", ".join(names.you(one) for one in inherited.by) or "unknown"
        parts.append(f"{excerpt_told(inherited.staged)} typed by {by}")
    if inherited.jobs:
        count = len(inherited.jobs)
        runs = "1 job runs" if count == 1 else f"{count} jobs run"
        # A process that is about to end has no command any more.
        named = [one.command for one in inherited.jobs if one.command.strip()]
        first = f": {printable(named[0], 60)}" if named else ""
        parts.append(f"{runs}{first}{', …' if first and count > 1 else ''}")
    parts += _changed_told(inherited.changed, names)
    return "; ".join(parts)


def _changed_told(changed: tuple[Staged, ...], names: Names) -> list[str]:
    """Return who changed what in the shell, one sentence per operator."""
    told: dict[str, list[str]] = {}
    for one in changed:
        told.setdefault(by_told(one, names), []).append(thing_told(one))
    return [
        f"{who} changed: {', '.join(things[:MAX_THINGS])}"
        f"{', …' if len(things) > MAX_THINGS else ''}"
        for who, things in told.items()
    ]


def thing_told(staged: Staged) -> str:
    """Return what was staged, in words."""
    name = printable(staged.name, 80)
    if staged.what == "variable":
        return name
    if staged.what == "path-entry":
        return f"{name} on the PATH"
    return f"{staged.what} {name}"


def by_told(staged: Staged, names: Names) -> str:
    """Return who staged it, as far as that is known."""
    who = ", ".join(names.you(one) for one in staged.by) or "unknown"
    return who if staged.sure or not staged.by else f"perhaps {who}"


def runs_told(runs: str, uses: tuple[Staged, ...], names: Names) -> list[str]:
    """Return what a line would run and who staged that, one line per part."""
    lines = [f"      runs  {printable(runs, 500)}"] if runs else []
    for one in uses:
        command = f", command {one.command}" if one.command else ""
        who = by_told(one, names)
        lines.append(f"      uses  {thing_told(one)}, by {who}{command}")
    return lines


def uses_facts(uses: tuple[Staged, ...]) -> object:
    """Return what was staged, for programs."""
    return msgspec.to_builtins(uses)


def pending_told(pending: Pending, names: Names) -> list[str]:
    """Return everything about an input that waits, one line per part."""
    cut = pending.size - len(pending.excerpt)
    more = f", {cut} of them not shown here" if cut > 0 else ""
    return [
        f"{pending.ticket:>4}  {names.you(pending.actor)}",
        f"      rule  {printable(pending.rule, 200)}",
        f"      {_kind(pending):<5} {excerpt_told(pending.excerpt)}",
        f"      {pending.size} bytes{more}",
        *(
            [f"      file  {printable(pending.program, 500)}"]
            if pending.program
            else []
        ),
        *runs_told(pending.runs, pending.uses, names),
        *preview_told(pending.preview),
    ]


def preview_told(preview: Preview | None) -> list[str]:
    """Return what a preview showed, one line per part."""
    if preview is None:
        return []
    head, *rest = preview.text.split("\n")
    shown = [f"        {printable(one, MAX_LINE)}" for one in rest]
    return [f"      preview  {printable(head, MAX_LINE)}", *shown]


def previewed_told(preview: Preview | None) -> str:
    """Return what came of a preview, to be said behind what waits."""
    if preview is None:
        return ""
    head = printable(preview.text.partition("\n")[0], 200)
    return f"; previewed: {head}" if preview.ran else f"; {head}"


def preview_facts(preview: Preview | None) -> dict[str, object] | None:
    """Return what a preview showed, for programs."""
    if preview is None:
        return None
    return {**msgspec.structs.asdict(preview), "digest": preview.digest.hex()}


def _kind(pending: Pending) -> str:
    return "exec" if pending.program else pending.kind.value


def excerpt_told(excerpt: bytes) -> str:
    """Return bytes as they can be shown: exactly, and with no effect."""
    # Escape backslashes first, so that no text looks like the escape of another.
    plain = excerpt.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    text = plain.decode("utf-8", "backslashreplace")
    return f'"{printable(text, MAX_SHOWN)}"'


def pending_facts(pending: Pending, names: Names) -> dict[str, object]:
    """Return an input that waits, for programs."""
    return {
        "ticket": pending.ticket,
        "actor": pending.actor,
        "operator": names.shown(pending.actor),
        "kind": InputKind(pending.kind).value,
        "epoch": pending.epoch,
        "digest": pending.digest.hex(),
        "size": pending.size,
        "excerpt": pending.excerpt.decode("utf-8", "backslashreplace"),
        "rule": pending.rule,
        "program": pending.program or None,
        "runs": pending.runs,
        "uses": uses_facts(pending.uses),
        "preview": preview_facts(pending.preview),
    }


def facts(session: str, presence: Presence, names: Names) -> dict[str, object]:
    """Return who is attached and who has the turn, for programs."""
    return {
        "session": session,
        "us": names.us,
        "holder": presence.holder or None,
        "epoch": presence.epoch,
        "waiting": list(presence.waiting),
        "frozen": presence.frozen,
        "present": msgspec.to_builtins(presence.present),
        "pending": [pending_facts(one, names) for one in presence.pending],
        "rights": list(presence.rights),
    }


def print_facts(session: str, done: Done) -> None:
    """Print the state after a request, for programs."""
    told = facts(session, done.presence, names_of(done))
    inherited = done.inherited
    if inherited is not None:
        told["inherited"] = {
            "staged": inherited.staged.decode("utf-8", "backslashreplace"),
            "by": list(inherited.by),
            "jobs": [job.command for job in inherited.jobs],
            "changed": uses_facts(inherited.changed),
        }
    print(json.dumps(told, indent=2))
