"""`holdfast new`: start a session, and attach to it."""

import argparse
import os
import sys

from holdfast.cli import new_request
from holdfast.cli.settings_notice import settings_told
from holdfast.core.client.timeouts import APPROVAL
from holdfast.model.errors import MalformedArgument
from holdfast.model.ids import SessionId
from holdfast.model.limits import Limits
from holdfast.model.session_record import CAPSULE, record_of
from holdfast.model.session_requests import Created, Creation
from holdfast.model.settings import MAX_SPAN, MIN_CHECKPOINTS, seconds_from
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
    parser.add_argument("--movable", action="store_true")
    parser.add_argument("--net", choices=("host", "own"))
    parser.add_argument("--files", choices=("shared", "own"))
    parser.add_argument("--memory", metavar="SIZE")
    parser.add_argument("--cpus", metavar="N")
    parser.add_argument("--pids", metavar="N")
    parser.add_argument("--checkpoint-every", metavar="TIME")
    parser.add_argument("--timeout", metavar="S", type=float, default=APPROVAL)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("command", metavar="CMD", nargs="*")


def run(options: argparse.Namespace) -> int:
    """Start the session, then attach to it or say how to."""
    packet = new_request.asked(options)  # type: ignore[arg-type]  # it has them all
    asked = record_of(Creation, packet)
    every = _every(options, asked)
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
    if every is not None:
        from holdfast.linux.stored import checkpoint_paces  # noqa: PLC0415  # rarely needed

        checkpoint_paces.choose(SessionId(session), every)
    _tell_limits(options, asked, made, host)
    if options.json:
        print(new_request.facts(made.id, made.name, made.pid))
        sys.stdout.flush()
    if not options.detach:
        from holdfast.cli.attached import show  # noqa: PLC0415  # not for --detach

        return show(keeper.find(f"{host}/{session}" if host else session))
    if not options.json:
        print(new_request.sentence(made.id, made.name, host))
    return 0


def _every(options: argparse.Namespace, asked: Creation) -> float | None:
    """Return how often images are to be made; None if nobody says."""
    text = options.checkpoint_every
    if text is None:
        return None
    if options.on:
        raise MalformedArgument("--checkpoint-every", "used on this machine")
    if asked.runtime != CAPSULE:
        raise MalformedArgument("--checkpoint-every", "used with --capsule")
    seconds = seconds_from(text)
    if seconds is None or (seconds and not MIN_CHECKPOINTS <= seconds <= MAX_SPAN):
        raise MalformedArgument("--checkpoint-every", "a time such as 10m; 0s is never")
    return seconds


def _tell_limits(
    options: argparse.Namespace, asked: Creation, made: Created, host: str
) -> None:
    """Say what does not work in the session."""
    if options.exec_gate and made.no_new_privs:
        print(NO_SUDO, file=sys.stderr)
    if options.capsule and made.runtime != CAPSULE:
        print(
            f"holdfast: {host} does not support capsules: the session is plain",
            file=sys.stderr,
        )
    if made.no_capsule:
        print(new_request.no_walls(made.no_capsule), file=sys.stderr)
    if made.runtime == CAPSULE and not host and os.getuid() != 0:
        print(new_request.NO_SU, file=sys.stderr)
    if made.runtime == CAPSULE and asked.files == "own":
        print(new_request.OWN_FILES, file=sys.stderr)
    if made.runtime == CAPSULE and not host and (text := missing_limits(made)):
        print(text, file=sys.stderr)


def missing_limits(made: Created) -> str:
    """Return which limits of the settings do not hold; empty if all do."""
    from holdfast.linux.stored import config  # noqa: PLC0415  # rarely needed

    if any(made.limits) or not config.mentions(*config.LIMITS):
        return ""
    found = config.settings()
    usual = Limits(found.memory, found.millicpus, found.pids).told()
    return (
        f"holdfast: limits cannot be set here; ignoring {usual} from the settings"
        if usual
        else ""
    )


def _tell_mistakes(*, is_ours: bool) -> None:
    """Name a mistake in the settings, if nobody who attaches will."""
    for line in settings_told()[1] if is_ours else ():
        print(f"holdfast: {line}", file=sys.stderr)


def await_approval(made: Created, host: str, timeout: float) -> None:
    """Say what needs approval, and wait; withdraw the request if interrupted."""
    from holdfast.client import pending_start  # noqa: PLC0415  # rarely needed
    from holdfast.model.text import printable  # noqa: PLC0415  # ditto
    from holdfast.wire.messages import Pending  # noqa: PLC0415  # ditto

    def held(pending: Pending) -> None:
        label = f"{host}/{made.id}" if host else made.id
        rule = printable(pending.rule, 200)
        how = f"`holdfast approve {label} {pending.ticket}` starts it"
        print(f"holdfast: by rule {rule}; {how}", file=sys.stderr)

    waits = pending_start.waiting_in(made)
    if waits is None:
        return
    text = printable(waits.text.decode("utf-8", "replace"), 1000)
    try:
        print(f"holdfast: waiting for approval of {text}", file=sys.stderr)
        sys.stderr.flush()
        pending_start.await_start(waits, host, timeout, held)
    except KeyboardInterrupt:
        # It may have come before we were attached, or were told what waits.
        pending_start.withdraw(waits, host)
        raise
