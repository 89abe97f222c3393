"""`holdfast notify`: report that a session needs input."""

import argparse
import json
import os
import sys

from holdfast.cli.turn_requests import live_session
from holdfast.client.calls import request
from holdfast.model.errors import MalformedArgument
from holdfast.wire.intents import Notify
from holdfast.wire.messages import MAX_TEXT, fitting

STANDARD_INPUT = "-"
MAX_READ = 1024 * 1024
"""Bytes of standard input that are read: what a hook is told is less."""

SAID_IN = ("message", "last-assistant-message", "last_assistant_message")
"""Members of the JSON objects that coding agents give their hooks, which people are
meant to read."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--needs-input", metavar="TEXT", required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("session", metavar="NAME", nargs="?")


def run(options: argparse.Namespace) -> int:
    """Report that the session needs input."""
    name = options.session or os.environ.get("HOLDFAST_SESSION", "")
    if not name:
        raise MalformedArgument("no name", "a session, since this is outside of any")
    text = said_in(_given(options.needs_input))
    session = live_session(name)
    request(session.id, Notify(fitting(text, MAX_TEXT)))
    if options.json:
        print(json.dumps({"session": session.id}))
    return 0


def said_in(text: str) -> str:
    """Return what is meant for people: of a hook's JSON, its message."""
    if text.lstrip()[:1] != "{":
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    said = (found.get(name) for name in SAID_IN)
    return next((one for one in said if isinstance(one, str) and one), text)


def _given(text: str) -> str:
    if text != STANDARD_INPUT:
        return text
    return sys.stdin.buffer.read(MAX_READ).decode("utf-8", "replace")
