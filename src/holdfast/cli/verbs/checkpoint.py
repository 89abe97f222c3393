"""`holdfast checkpoint`: save a session to disk, with the memory of its programs."""

import argparse
import json

import msgspec

from holdfast.cli.image_progress import shown_progress
from holdfast.cli.turn_requests import add_session_arguments, live_session
from holdfast.client.calls import checkpoint
from holdfast.model.errors import MalformedArgument
from holdfast.model.text import MAX_NAME, printable
from holdfast.wire.checkpoints import Checkpointed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_session_arguments(parser)
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--label", metavar="L", default="")
    parser.add_argument("--to", metavar="HOST")


def run(options: argparse.Namespace) -> int:
    """Put it to disk, and say where it is."""
    label = options.label
    if label != printable(label, MAX_NAME):
        raise MalformedArgument("--label", f"at most {MAX_NAME} letters on one line")
    if options.to is not None and options.stop:
        raise MalformedArgument("--to", "used without --stop; see `holdfast move`")
    session = live_session(options.session)
    with shown_progress(session.id, is_wanted=not options.json):
        made = checkpoint(session.id, stop=options.stop, label=label)
    if options.json:
        print(json.dumps({"session": session.id, **msgspec.to_builtins(made)}))
    else:
        print("\n".join(lines(session.label, made)))
    if options.to is not None:
        from holdfast.client import copies  # noqa: PLC0415  # rarely needed

        size = copies.send(made.image, options.to, _silent)
        if not options.json:
            where = printable(options.to.removeprefix("@"))
            print(f"{where} keeps a copy: {size / 1_000_000:.1f} MB.")
    return 0


def _silent(_sent: int, _all: int) -> None:
    pass


def lines(label: str, made: Checkpointed) -> list[str]:
    """Return for people what was made, and what it cost the session."""
    size = made.size / 1_000_000
    if made.stopped:
        said = [f"{label} is on disk as {made.image} ({size:.1f} MB), and ended."]
        said.append(f"`holdfast restore {made.image}` continues it.")
    else:
        still = f"it was stopped for {made.still_ms / 1000:.2f} s"
        said = [f"{label} is on disk as {made.image} ({size:.1f} MB); {still}."]
    for cut in made.cuts:
        whose = f"{printable(cut.program)} ({cut.pid})"
        peer = printable(cut.peer)
        said.append(f"  {whose}: a restore closes the connection to {peer}")
    return said
