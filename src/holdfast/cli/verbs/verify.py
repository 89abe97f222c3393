"""`holdfast verify`: inject the nine failure modes, and report what was seen."""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from holdfast.model.errors import MalformedArgument
from holdfast.verify import mode, text
from holdfast.verify.account import ends_by_signal
from holdfast.verify.finding import Finding
from holdfast.verify.json_form import as_json
from holdfast.verify.page import page
from holdfast.verify.run import verify
from holdfast.version import __version__


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("modes", metavar="MODE", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--report", metavar="FILE", type=Path)
    parser.add_argument("--no-controls", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Inject, print, and write the page."""
    try:
        modes = mode.chosen(options.modes)
    except ValueError as error:
        raise MalformedArgument(" ".join(options.modes), str(error)) from error
    if options.report is not None:
        _try(options.report)
    with ends_by_signal():
        found = verify(modes, __version__, _told, with_controls=not options.no_controls)
    if options.report is not None:
        options.report.write_text(page(found), encoding="utf-8")
    if options.json:
        print(json.dumps(as_json(found), indent=2))
    else:
        width = shutil.get_terminal_size().columns
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print(text.rendered(found, width, colour=colour), end="")
    return 1 if found.failed else 0


def _try(report: Path) -> None:
    """Refuse a file that cannot be written before the work, and not after it."""
    try:
        with report.open("ab"):
            pass
    except OSError as error:
        wanted = f"a file that can be written: {error.strerror}"
        raise MalformedArgument(str(report), wanted) from error


def _told(title: str, finding: Finding | None) -> None:
    """Say what is going on; on a terminal in one line for each mode."""
    terminal = sys.stderr.isatty()
    if finding is None:
        start = "\r" if terminal else ""
        print(f"{start}{title} …", end="" if terminal else "\n", file=sys.stderr)
    else:
        word = f"{text.WORDS[finding.verdict]} ({finding.seconds:.1f} s)"
        print(f" {word}" if terminal else f"  {word}", file=sys.stderr)
    sys.stderr.flush()
