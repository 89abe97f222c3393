"""Previews a command in a branch of the session."""

import argparse
import json
import signal

from holdfast.cli.turn_requests import live_session
from holdfast.client.branch_preview import RUNTIME, Wanted
from holdfast.client.branch_preview import preview as try_out
from holdfast.core.capsule.preview_text import told

EXIT_UNSETTLED = 75
"""The command had not ended when its time was up, or how is not known."""


def preview(options: argparse.Namespace, line: bytes) -> int:
    """Try a line out, tell what it did, and return its status."""
    # Who is told to end discards the branch first.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    session = live_session(options.session)
    timeout = RUNTIME if options.timeout is None else max(0.0, options.timeout)
    report = try_out(session, Wanted(line, timeout, options.keep))
    if options.json:
        print(json.dumps({"session": session.id, **report.facts()}), flush=True)
    else:
        print("\n".join(told(report)), flush=True)
    is_known = report.ended and report.exit is not None
    return (report.exit or 0) if is_known else EXIT_UNSETTLED
