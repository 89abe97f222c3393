"""`holdfast gate apply`: show what changes, and put the written policy in force."""

import argparse
import difflib
import json
import os
import sys
import textwrap
from collections.abc import Sequence

from holdfast.cli.approvals import EXIT_LEFT
from holdfast.client import policies
from holdfast.client.authority import demand_grant
from holdfast.core.policy.changes import PolicyChange, policy_changes
from holdfast.core.policy.policy import Policy
from holdfast.core.policy.policy_file import examine
from holdfast.linux.stored import policy_files
from holdfast.linux.stored.policy_files import Standing
from holdfast.model.errors import MalformedArgument
from holdfast.model.text import printable
from holdfast.model.verdicts import Verdict

MAX_SHOWN = 1000
"""Characters of a line that are shown: real ones are far shorter."""

CONTEXT = 3
WIDTH = 79


def run(options: argparse.Namespace) -> int:
    """Show the difference, ask, and apply."""
    us = demand_grant(policies.REQUEST)
    seen = policy_files.standing()
    if not seen.waits and not seen.tampered:
        return _nothing(seen, as_json=options.json)
    changes = _changes(seen)
    if not options.json and not seen.candidate.problems:
        _show(seen, changes)
    if not options.yes and not seen.candidate.problems and not _confirmed(options):
        print("holdfast: nothing was applied; the policy in force is unchanged")
        return EXIT_LEFT
    applied = policies.apply(us, seen)
    if options.json:
        print(json.dumps(_facts(seen, changes, has_applied=True), indent=2))
    else:
        print(f"in force: policy {applied.digest[:32]}, for every session of this host")
    return 0


def _nothing(seen: Standing, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(_facts(seen, [], has_applied=False), indent=2))
    else:
        print(f"nothing to apply: policy {seen.applied.digest[:32]} is in force")
    return 0


def _changes(seen: Standing) -> list[PolicyChange]:
    old, _ = examine(seen.applied.text)
    new, _ = examine(seen.candidate.text or b"")
    return [] if old is None or new is None else policy_changes(old, new)


def _show(seen: Standing, changes: list[PolicyChange]) -> None:
    new, _ = examine(seen.candidate.text or b"")
    if new is not None and not seen.applied.text and not seen.tampered:
        _introduce(new, seen)
        return
    if seen.tampered:
        print(f"{printable(seen.tampered, MAX_SHOWN)}: all of it is applied anew")
    for line in _difference(seen):
        print(line)
    for one in changes:
        mark = "looser:  " if one.loosens else "         "
        print(f"{mark}{printable(one.what, MAX_SHOWN)}")
    if seen.candidate.plugins != seen.applied.plugins:
        print("         plug-ins in the folder `plugins` changed")


def _introduce(policy: Policy, seen: Standing) -> None:
    """Say what the first policy of a host is about: a diff would be all of it."""
    path = printable(seen.candidate.path, MAX_SHOWN)
    lines = len((seen.candidate.text or b"").splitlines())
    print(f"the first policy of this host: {path}, {lines} lines")
    default = [f"{kind.value} {policy.default[kind].value}" for kind in policy.default]
    print(_wrapped("by default:", default))
    for verdict, told in _TOLD.items():
        names = [one.name for one in policy.rules if one.verdict is verdict]
        if names:
            rules = "1 rule" if len(names) == 1 else f"{len(names)} rules"
            print(_wrapped(f"{told} by {rules}:", names))
    others = [f"plug-in {one}" for one in policy.plugins]
    others += ["a webhook"] if policy.webhook is not None else []
    if others:
        print(_wrapped("asked besides:", others))
    print(f"`less {path}` shows all of it, `holdfast gate test` what it would decide")


def _wrapped(head: str, words: Sequence[str]) -> str:
    text = f"{head} {', '.join(printable(one, MAX_SHOWN) for one in words)}"
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


_TOLD = {
    Verdict.DENY: "denied",
    Verdict.ASK: "asked about",
    Verdict.PREVIEW: "previewed, and asked about",
    Verdict.ALLOW: "allowed",
}


def _difference(seen: Standing) -> list[str]:
    """Return a diff of the texts, with control characters made visible."""
    # An extra line does no harm; a hidden one would.
    old = seen.applied.text.decode(errors="replace").split("\n")
    new = (seen.candidate.text or b"").decode(errors="replace").split("\n")
    lines = difflib.unified_diff(
        old, new, "in force", seen.candidate.path, n=CONTEXT, lineterm=""
    )
    return [printable(line, MAX_SHOWN) for line in lines]


def _confirmed(options: argparse.Namespace) -> bool:
    if options.json or not (os.isatty(0) and os.isatty(1)):
        raise MalformedArgument("gate apply", "given with --yes where nobody is asked")
    print("Apply it? y/N: ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _facts(
    seen: Standing, changes: list[PolicyChange], *, has_applied: bool
) -> dict[str, object]:
    return {
        "applied": has_applied,
        "policy": seen.candidate.digest,
        "before": seen.applied.digest,
        "tampered": seen.tampered or None,
        "changes": [{"what": one.what, "loosens": one.loosens} for one in changes],
        "difference": _difference(seen),
    }
