"""`holdfast new`: start a session, and attach to it."""

import argparse
import json
import os
import sys

from holdfast.cli.manual import describe
from holdfast.model.errors import MalformedArgument
from holdfast.model.text import checked_name

TRAVELLING = frozenset({"TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE"})
"""Variables that say what this terminal can do, and so hold at any host."""

NO_SUDO = "holdfast: every exec is judged; sudo and the like do not work in here"
"""Said to whoever starts a session with an exec gate and is not root."""

OWN = "HOLDFAST_"
"""Variables that speak of the session we are in, and not of the new one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Start a session and attach to it, unless told not to. The session lives"
        " on when you detach, when the terminal closes and when any process of"
        " holdfast dies.",
        {
            "holdfast new": "your shell, here",
            "holdfast new --name web -- npm run dev": "one command, by a name",
            "holdfast new --detach --json -- make": "from a script",
            "holdfast new --on box": "at the host that you call box",
        },
        {"N": "attached, and the command ended: its own status, or 128 + signal"},
    )
    parser.add_argument(
        "--detach", action="store_true", help="print how to attach instead of doing so"
    )
    parser.add_argument("--name", metavar="N", help="what to call it (one is chosen)")
    parser.add_argument("--on", metavar="HOST", help="at this host elsewhere (here)")
    parser.add_argument("--cwd", metavar="D", help="the folder to start in (this one)")
    parser.add_argument(
        "--env",
        metavar="K=V",
        action="append",
        default=[],
        help="set a variable for it; may be repeated",
    )
    parser.add_argument(
        "--size", metavar="CxR", help="columns and rows (this terminal's, or 80x24)"
    )
    parser.add_argument(
        "--no-integration",
        action="store_true",
        help="start a shell as it is: `run` will not work in it",
    )
    parser.add_argument(
        "--exec-gate",
        action="store_true",
        help="judge every exec in it by the policy; unless you are root, sudo and"
        " other set-user-id programs do not work in it",
    )
    parser.add_argument("--json", action="store_true", help="print facts for programs")
    parser.add_argument(
        "command",
        metavar="CMD",
        nargs="*",
        help="what to run, after -- (your shell)",
    )


def run(options: argparse.Namespace) -> int:
    """Have the session made, then show it or say how to."""
    asked = _asked(options)
    if not options.detach:
        from holdfast.cli.terminal import demand_terminal  # noqa: PLC0415  # not needed

        demand_terminal()  # Before anything is made.
    from holdfast.client import keeper  # noqa: PLC0415  # after the words are checked
    from holdfast.client.profile import our_id  # noqa: PLC0415  # ditto

    host = checked_name(options.on) if options.on else ""
    made = keeper.request("create", {**asked, "creator": our_id()}, host=host)
    session, name = str(made["id"]), str(made.get("name") or "")
    if options.exec_gate and made.get("no_new_privs"):
        print(NO_SUDO, file=sys.stderr)
    if options.json:
        print(json.dumps({"id": session, "name": name, "pid": made.get("pid")}))
        sys.stdout.flush()
    if not options.detach:
        from holdfast.cli.attached import show  # noqa: PLC0415  # not for --detach

        return show(keeper.find(f"{host}/{session}" if host else session))
    if not options.json:
        from holdfast.model.text import shown_name  # noqa: PLC0415  # for people only

        label = shown_name(name) if name else session
        label = f"{host}/{label}" if host else label
        print(f"{label} ({session}) runs; `holdfast attach {label}` shows it")
    return 0


def _asked(options: argparse.Namespace) -> dict[str, object]:
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(OWN) and (not options.on or name in TRAVELLING)
    }
    if options.env:
        from holdfast.cli.arguments import variable_from  # noqa: PLC0415  # rarely needed

        env |= dict(map(variable_from, options.env))
    name = None if options.name is None else checked_name(options.name)
    if options.on:  # Shell and home are those of the other machine.
        asked = {"command": options.command or None, "cwd": options.cwd}
    else:
        shell = os.environ.get("SHELL") or "/bin/sh"
        asked = {
            "command": options.command or [shell],
            "cwd": _folder(options.cwd or "."),
        }
    return {
        "name": name,
        **asked,
        "env": env,
        "size": _size(options.size),
        "integration": not options.no_integration,
        "exec_gate": options.exec_gate,
    }


def _folder(asked: str) -> str:
    try:
        return os.path.abspath(asked)  # noqa: PTH100  # a path would resolve links
    except FileNotFoundError:
        raise MalformedArgument(asked, "a folder: the present one is gone") from None


def _size(asked: str | None) -> list[int] | None:
    """Return the size asked for, or this terminal's; None leaves it to the holder."""
    if asked is None:
        try:
            found = os.get_terminal_size(1)
        except OSError:
            return None
        # A terminal that does not know says 0; what is too large is made to fit.
        return [found.columns, found.lines] if all(found) else None
    from holdfast.cli.arguments import size_from  # noqa: PLC0415  # slow to load
    from holdfast.model.geometry import Size  # noqa: PLC0415  # ditto

    size = Size(*size_from(asked))
    return [size.columns, size.rows]
