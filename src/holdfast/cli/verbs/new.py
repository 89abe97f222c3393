"""`holdfast new`: start a session, and attach to it."""

import argparse
import os
import sys

from holdfast.cli import new_request
from holdfast.cli.settings_notice import settings_told
from holdfast.core.client.timeouts import APPROVAL
from holdfast.model.session_record import CAPSULE, record_of
from holdfast.model.session_requests import Created, Creation
from holdfast.model.text import checked_name

NO_SUDO = "holdfast: every exec is judged; sudo and other setuid programs do not work"
"""Shown to a user who starts a session with an exec gate and is not root."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("-d", "--detach", action="store_true")
    parser.add_argument("-n", "--name", metavar="N")
    parser.add_argument("--on", metavar="HOST")
    parser.add_argument("--cwd", metavar="D")
    parser.add_argument("--env", metavar="K=V", action="append", default=[])
    parser.add_argument("--size", metavar="CxR")
    parser.add_argument("--window", metavar="SIZE")
    parser.add_argument("--no-integration", action="store_true")
    parser.add_argument("--exec-gate", action="store_true")
    runtime = parser.add_mutually_exclusive_group()
    runtime.add_argument("--capsule", action="store_true")
    runtime.add_argument("--plain", action="store_true")
    parser.add_argument("--net", choices=("host", "own"))
    parser.add_argument("--timeout", metavar="S", type=float, default=APPROVAL)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("command", metavar="CMD", nargs="*")


def run(options: argparse.Namespace) -> int:
    """Start the session, then attach to it or say how to."""
    packet = new_request.asked(options)  # type: ignore[arg-type]  # it has them all
    asked = record_of(Creation, packet)
    if not options.detach:
        from holdfast.cli.terminal import demand_terminal  # noqa: PLC0415  # not needed

        demand_terminal()  # Before anything is created.
    from holdfast.client import keeper  # noqa: PLC0415  # after the words are checked
    from holdfast.client.proven_requests import proven_by_us  # noqa: PLC0415  # ditto

    host = checked_name(options.on) if options.on else ""
    _tell_mistakes(is_ours=not host and options.detach)
    answer = keeper.request(proven_by_us(asked), host=host)
    made = record_of(Created, answer)
    if made.state == "starting":
        await_approval(made, host, options.timeout)
    session = made.id
    _tell_limits(options, made, host)
    if options.json:
        print(new_request.facts(made.id, made.name, made.pid))
        sys.stdout.flush()
    if not options.detach:
        from holdfast.cli.attached import show  # noqa: PLC0415  # not for --detach

        return show(keeper.find(f"{host}/{session}" if host else session))
    if not options.json:
        print(new_request.sentence(made.id, made.name, host))
    return 0


def _tell_limits(options: argparse.Namespace, made: Created, host: str) -> None:
    """Say what does not work in the session."""
    if options.exec_gate and made.no_new_privs:
        print(NO_SUDO, file=sys.stderr)
    if options.capsule and made.runtime != CAPSULE:
        print(f"holdfast: {host} knows no capsules: it is plain", file=sys.stderr)
    if made.runtime == CAPSULE and not host and os.getuid() != 0:
        print(new_request.NO_SU, file=sys.stderr)


def _tell_mistakes(*, is_ours: bool) -> None:
    """Name a mistake in the settings, if nobody who attaches will."""
    for line in settings_told()[1] if is_ours else ():
        print(f"holdfast: {line}", file=sys.stderr)


def await_approval(made: Created, host: str, timeout: float) -> None:
    """Say what needs approval, and wait; withdraw the request if interrupted."""
    from holdfast.client.pending_start import await_start, waiting_in  # noqa: PLC0415  # rarely needed
    from holdfast.model.text import printable  # noqa: PLC0415  # ditto
    from holdfast.wire.messages import Pending  # noqa: PLC0415  # ditto

    def held(pending: Pending) -> None:
        label = f"{host}/{made.id}" if host else made.id
        rule = printable(pending.rule, 200)
        how = f"`holdfast approve {label} {pending.ticket}` starts it"
        print(f"holdfast: by rule {rule}; {how}", file=sys.stderr)

    waits = waiting_in(made)
    if waits is not None:
        text = printable(waits.text.decode("utf-8", "replace"), 1000)
        print(f"holdfast: waiting for approval of {text}", file=sys.stderr)
        sys.stderr.flush()
        await_start(waits, host, timeout, held)
