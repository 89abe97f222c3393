"""What is told to an agent about images of sessions.

Labels, names of programs and addresses were chosen by others: they are cut, and
nothing in them is obeyed by a terminal.
"""

from holdfast.mcp.tool_output import Facts, enveloped, moment
from holdfast.model.preview_report import PreviewReport
from holdfast.model.text import printable, shown_name
from holdfast.sdk.exported import Checkpointed, Cut, Preflight, preview_lines
from holdfast.sdk.values import ImageInfo

MAX_REPORT = 32 * 1024
"""Characters of what a preview showed."""

MAX_CUTS = 16
"""Connections that are listed: an agent wants to know which, and not all."""


def image_facts(image: ImageInfo) -> Facts:
    """Return one image of a list."""
    return {
        "image": image.image,
        "session": shown_name(image.name),
        "label": printable(image.label, 64),
        "made": moment(image.made_wall) if image.made_ms else "",
        "bytes": image.size,
        "incarnation": image.incarnation,
        "session_ended_with_it": image.once,
        "is_restorable": image.is_restorable,
        "why_not": printable(image.problem, 200),
    }


def checkpoint_facts(made: Checkpointed) -> Facts:
    """Return what came of a checkpoint."""
    return {
        "image": made.image,
        "bytes": made.size,
        "stood_still_ms": made.still_ms,
        "session_ended": made.stopped,
        "a_restore_closes": [_cut_facts(one) for one in made.cuts[:MAX_CUTS]],
    }


def blocker_facts(seen: Preflight) -> Facts:
    """Return what keeps a session from being put to disk."""
    return {
        "blockers": [
            {
                "pid": one.pid,
                "program": printable(one.program, 64),
                "what": printable(one.what, 200),
                "why": printable(one.why, 200),
                "what_to_do": printable(one.remedy, 200),
            }
            for one in seen.blockers
        ],
        "unlisted": seen.unlisted,
    }


def preview_facts(session: str, report: PreviewReport) -> Facts:
    """Return what a preview showed: names and texts in it are the session's."""
    text = "\n".join(preview_lines(report))
    left_out = max(0, len(text) - MAX_REPORT)
    return {
        "ended": report.ended,
        "exit_status": report.exit,
        "branch": shown_name(report.branch) if report.branch else "",
        "report": enveloped(f"a preview in {session}", text[:MAX_REPORT], []),
        "characters_left_out": left_out,
    }


def _cut_facts(cut: Cut) -> Facts:
    return {
        "pid": cut.pid,
        "program": printable(cut.program, 64),
        "peer": printable(cut.peer, 100),
    }
