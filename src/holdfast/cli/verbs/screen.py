"""`holdfast screen`: print a session's screen."""

import argparse
import json
import os
import sys

from holdfast.cli.screen_text import trimmed
from holdfast.cli.visible_text import facts as hidden_facts
from holdfast.cli.visible_text import legend, marked
from holdfast.client import keeper
from holdfast.client.driver import ask
from holdfast.core.client.screen_question import Seen, screen
from holdfast.model.text import printable
from holdfast.term.cells import Run
from holdfast.term.looks import EXACT, Look


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("--cells", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Get the screen, and print it."""
    session = keeper.find(options.session)
    seen = ask(session.id, screen(cells=options.cells))
    if options.json:
        print(json.dumps({"session": session.id, **facts(seen, cells=options.cells)}))
    elif options.cells and not _is_coloured():
        for one in seen.screen.runs:
            print(json.dumps(run_facts(one)))
        for stretch in seen.screen.hidden:
            print(json.dumps({"hidden": hidden_facts(stretch, seen.screen.lines)}))
    elif options.cells:
        print(coloured(seen))
    else:
        print(text(seen, is_marked=not options.plain))
    if not options.json:
        _explain(seen, is_marked=not (options.plain or options.cells))
    return 0


def text(seen: Seen, *, is_marked: bool = True) -> str:
    """Return the rows without trailing blanks and trailing empty rows."""
    screen = seen.screen
    rows = marked(screen.lines, screen.hidden) if is_marked else screen.lines
    return trimmed(rows)


def coloured(seen: Seen) -> str:
    """Return the rows in their colours, for a terminal."""
    from holdfast.term.canvas import EVERY_COLOUR, Style, sgr  # noqa: PLC0415  # rare

    rows = [""] * seen.screen.size.rows
    for one in seen.screen.runs:
        style = Style(one.foreground, one.background, one.look)
        rows[one.row] += f"{sgr(style, EVERY_COLOUR)}{one.text}\x1b[m"
    return "\n".join(rows).rstrip("\n")


def facts(seen: Seen, *, cells: bool) -> dict[str, object]:
    """Return a screen as one JSON object."""
    screen = seen.screen
    found: dict[str, object] = {
        "size": {"columns": screen.size.columns, "rows": screen.size.rows},
        "cursor": {
            "row": screen.cursor_row,
            "column": screen.cursor_column,
            "visible": screen.cursor_visible,
        },
        "title": screen.title,
        "alternate": screen.alternate,
        "lines": [line.rstrip() for line in screen.lines],
        "hidden": [hidden_facts(one, screen.lines) for one in screen.hidden],
        "above": screen.above,
        "offset": seen.offset,
        "exact": seen.exact,
    }
    if cells:
        found["cells"] = [run_facts(one) for one in screen.runs]
    return found


def run_facts(one: Run) -> dict[str, object]:
    """Return a run as a JSON object, without default values."""
    found: dict[str, object] = {"row": one.row, "text": one.text}
    if one.foreground:
        found["foreground"] = _colour(one.foreground)
    if one.background:
        found["background"] = _colour(one.background)
    if one.look:
        found["look"] = [(look.name or "").lower() for look in Look if one.look & look]
    return found


def _colour(number: int) -> int | str:
    return number - 1 if number < EXACT else f"#{number - EXACT:06x}"


def _is_coloured() -> bool:
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal and not os.environ.get("NO_COLOR")


def _explain(seen: Seen, *, is_marked: bool) -> None:
    if sys.stderr is None:
        return
    if is_marked and seen.screen.hidden:
        print(f"holdfast: {legend(seen.screen.hidden)}", file=sys.stderr)
    if not seen.exact and sys.stderr.isatty():
        lost = f"not all of the {seen.offset} bytes printed could be drawn"
        print(f"holdfast: {printable(lost)}; --json says `exact`", file=sys.stderr)
