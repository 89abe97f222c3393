"""What `send`, `keys` and `resize` share: one input, and its answer."""

import argparse
import json
import sys

from holdfast.client import keeper
from holdfast.client.calls import submit
from holdfast.client.driver import attachment_to
from holdfast.core.client.timeouts import APPROVAL, TYPING
from holdfast.model.errors import SessionOver
from holdfast.model.inputs import InputKind
from holdfast.model.text import printable
from holdfast.wire.messages import Pending


def add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that all of them have."""
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        default=TYPING,
        help=f"seconds to wait for a program that does not read ({TYPING:.0f})",
    )
    add_approval_argument(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the offset from which on the stream shows what came of it",
    )


def add_approval_argument(parser: argparse.ArgumentParser) -> None:
    """Declare how long an approval is waited for."""
    parser.add_argument(
        "--approval-timeout",
        metavar="S",
        type=float,
        default=APPROVAL,
        help=f"seconds to wait for an approval; then it is taken back ({APPROVAL:.0f})",
    )


def say_held(pending: Pending) -> None:
    """Say why nothing happens: somebody else has to answer first."""
    rule = printable(pending.rule, 64)
    print(
        f"holdfast: waits for approval: request {pending.ticket}, rule {rule};"
        " `holdfast gate pending` shows it, an operator who may approves or denies it",
        file=sys.stderr,
        flush=True,
    )


def deliver(options: argparse.Namespace, kind: InputKind, payload: bytes) -> int:
    """Make the input, and return when the terminal has taken it."""
    session = keeper.find(options.session)
    if session.exit is not None:
        raise SessionOver("exited")
    attachment = attachment_to(session.id)
    if not options.json:  # Programs are told by the error alone.
        attachment.held = say_held
    offset = submit(
        attachment, kind, payload, options.timeout, options.approval_timeout
    )
    if options.json:
        print(json.dumps({"session": session.id, "offset": offset}))
    return 0
