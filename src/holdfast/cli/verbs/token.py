"""`holdfast token`: print a session's id and incarnation, signed by this host."""

import argparse
import json
import time

from holdfast.client import branches, keeper
from holdfast.model.errors import MalformedArgument

KEY = 32
"""Bytes of a host's key."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--key", metavar="HEX")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("session", metavar="NAME | TOKEN")


def run(options: argparse.Namespace) -> int:
    """Print the token of a session, or what a token says."""
    key = None if options.key is None else _key(options.key)
    if options.check:
        token = options.session
    elif key is not None:
        raise MalformedArgument("--key", "used with --check")
    else:
        token = branches.token_of(keeper.find(options.session))
    branch = branches.checked_token(token, key)
    if options.json:
        facts = {"branch": branch.name, **branch._asdict(), "token": token}
        print(json.dumps(facts))
    elif options.check:
        whose = f", a branch of {branch.parent}" if branch.parent else ""
        said = f"session {branch.session}, incarnation {branch.incarnation}{whose}"
        print(f"genuine: {said}{_until(branch.expires_ms)}")
    else:
        print(token)
    return 0


def _key(text: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY:
        raise MalformedArgument("--key", f"a host's key: {2 * KEY} hex digits")
    return key


def _until(expires_ms: int) -> str:
    if not expires_ms:
        return ""
    clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(expires_ms / 1000))
    return f"; good until {clock}"
