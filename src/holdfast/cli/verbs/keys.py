"""`holdfast keys`: press keys in a session, by name."""

import argparse

from holdfast.cli.one_input import add_shared_arguments, deliver
from holdfast.client.key_names import bytes_of
from holdfast.model.inputs import InputKind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("keys", metavar="KEY", nargs="+")


def run(options: argparse.Namespace) -> int:
    """Press them."""
    pressed = b"".join(map(bytes_of, options.keys))
    return deliver(options, InputKind.KEYS, pressed)
