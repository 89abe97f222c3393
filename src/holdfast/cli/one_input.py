"""Shared by `send`, `keys` and `resize`: one input, and its answer."""

import argparse
import json
import sys

from holdfast.cli.turn_requests import live_session
from holdfast.client.calls import submit
from holdfast.client.driver import attachment_to
from holdfast.core.client.timeouts import APPROVAL, TYPING
from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.model.text import printable
from holdfast.wire.messages import Pending


def add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options they share."""
    parser.add_argument("--timeout", metavar="S", type=float, default=TYPING)
    add_approval_argument(parser)
    parser.add_argument("--json", action="store_true")


def add_approval_argument(parser: argparse.ArgumentParser) -> None:
    """Declare how long to wait for approval."""
    parser.add_argument("--approval-timeout", metavar="S", type=float, default=APPROVAL)


def say_held(pending: Pending) -> None:
    """Say that the input waits for approval."""
    rule = printable(pending.rule, 64)
    print(
        f"holdfast: waiting for approval: request {pending.ticket}, rule {rule};"
        " see `holdfast gate pending`, `holdfast approve` and `holdfast deny`",
        file=sys.stderr,
        flush=True,
    )


def deliver(options: argparse.Namespace, kind: InputKind, payload: bytes) -> int:
    """Send the input, and return when the terminal has accepted it."""
    return deliver_to(live_session(options.session).id, options, kind, payload)


def deliver_to(
    session: SessionId, options: argparse.Namespace, kind: InputKind, payload: bytes
) -> int:
    """Send the input to this session, and return when the terminal has accepted it."""
    attachment = attachment_to(session)
    if not options.json:  # With --json, the error itself is the output.
        attachment.held = say_held
    offset = submit(
        attachment, kind, payload, options.timeout, options.approval_timeout
    )
    if options.json:
        print(json.dumps({"session": session, "offset": offset}))
    return 0
