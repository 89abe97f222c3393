"""`holdfast fork`: make a copy of a running session, memory included."""

import argparse
import json
import sys

from holdfast.core.client.timeouts import APPROVAL

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from holdfast.client.branches import Forked


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--discard", action="store_true")
    what.add_argument("--promote", action="store_true")
    parser.add_argument("-f", "--force", action="store_true")
    parser.add_argument("-d", "--detach", action="store_true")
    parser.add_argument("-n", "--name", metavar="N")
    parser.add_argument("--timeout", metavar="S", type=float, default=APPROVAL)
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Make the branch, then attach to it or say how to; or discard one."""
    if options.discard:
        return _discard(options)
    if options.promote:
        return _promote(options)
    attaches = not options.detach and not options.json
    if attaches:
        from holdfast.cli.terminal import demand_terminal  # noqa: PLC0415  # not needed

        demand_terminal()  # Before anything is made.
    from holdfast.cli.turn_requests import live_session  # noqa: PLC0415  # after the words
    from holdfast.client import branches  # noqa: PLC0415  # ditto
    from holdfast.model.text import checked_name, shown_name  # noqa: PLC0415  # ditto

    parent = live_session(options.session)
    name = checked_name(options.name) if options.name else ""
    forked = branches.fork(parent, name or branches.free_name(parent.name))
    made = forked.made
    if made.state == "starting":
        from holdfast.cli.verbs.new import await_approval  # noqa: PLC0415  # rarely needed

        await_approval(made, "", options.timeout)
    if options.json:
        print(json.dumps(_facts(parent.id, forked)))
        return 0
    label = shown_name(made.name)
    hint = "" if attaches else f" `holdfast attach {label}` shows it."
    print(f"{label} is a branch of {parent.label}.{hint}")
    for line in _cut(forked):
        print(line)
    sys.stdout.flush()
    if not attaches:
        return 0
    from holdfast.cli.attached import show  # noqa: PLC0415  # not for --detach
    from holdfast.client import keeper  # noqa: PLC0415  # ditto

    return show(keeper.find(made.id))


def _discard(options: argparse.Namespace) -> int:
    """End a branch, and remove what it had changed."""
    import signal  # noqa: PLC0415  # not for --detach

    from holdfast.cli.confirmation import confirmed  # noqa: PLC0415  # ditto
    from holdfast.cli.verbs.end import end  # noqa: PLC0415  # ditto
    from holdfast.client import branches, keeper  # noqa: PLC0415  # ditto

    session = keeper.find(options.session)
    branches.demand_branch(session)
    question = f"End {session.label} and drop its file changes?"
    if not options.force and not confirmed(question):
        print(f"holdfast: not confirmed; {session.label} is as it was")
        return 1
    end(session, signal.SIGKILL)
    branches.remove_files(session)
    print(f"{session.label} has ended, and its changes were dropped")
    return 0


def _promote(options: argparse.Namespace) -> int:
    """Make a branch its parent."""
    from holdfast.cli.confirmation import confirmed  # noqa: PLC0415  # not for --detach
    from holdfast.client import promotion  # noqa: PLC0415  # ditto
    from holdfast.model.text import shown_name  # noqa: PLC0415  # ditto

    question = "Replace the parent with this branch, including its files?"
    if not options.force and not confirmed(question):
        print("holdfast: not confirmed; both are as they were")
        return 1
    done = promotion.promote(options.session, forced=options.force)
    made, before = done.made, done.before
    if made.state == "starting":
        from holdfast.cli.verbs.new import await_approval  # noqa: PLC0415  # rarely needed

        await_approval(made, "", options.timeout)
        promotion.clean(done.branch)
    if options.json:
        told = {"id": made.id, "name": made.name, "incarnation": made.incarnation}
        print(json.dumps({**told, "before": before}))
        return 0
    life = f"(incarnation {made.incarnation})"
    print(f"{shown_name(made.name)} was replaced with its branch {life}.")
    if before:
        print(f"`holdfast restore --as-new {before}` opens its former state.")
    return 0


def _facts(parent: str, forked: "Forked") -> dict[str, object]:
    import msgspec  # noqa: PLC0415  # slow to load

    made, image = forked
    return {
        "id": made.id,
        "name": made.name,
        "pid": made.pid,
        "parent": parent,
        "still_ms": image.still_ms,
        "cuts": msgspec.to_builtins(image.cuts),
    }


def _cut(forked: "Forked") -> list[str]:
    """Return for people which connections the branch has not any more."""
    from holdfast.model.text import printable  # noqa: PLC0415  # beside the rest

    return [
        f"  {printable(one.program)} ({one.pid}): "
        f"its connection to {printable(one.peer)} is closed in the branch"
        for one in forked.image.cuts
    ]
