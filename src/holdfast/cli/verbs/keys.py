"""`holdfast keys`: press keys in a session, by name."""

import argparse

from holdfast.cli.manual import describe
from holdfast.cli.one_input import add_shared_arguments, deliver
from holdfast.client.key_names import bytes_of
from holdfast.model.inputs import InputKind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Press keys in a session: all of them, or none if one is refused. A key is a"
        " single character, C-x for Control, M-x for Meta, Up Down Left Right Home"
        " End PageUp PageDown Insert Delete Enter Tab Escape Space BSpace, or F1 to"
        " F12.",
        {
            "holdfast keys web C-c": "interrupt the running command",
            "holdfast keys editor Escape : w q Enter": "save and quit in vim",
        },
        {77: "another operator has the turn, or it is not allowed"},
    )
    add_shared_arguments(parser)
    parser.add_argument("session", metavar="NAME", help="name, id, or start of an id")
    parser.add_argument("keys", metavar="KEY", nargs="+", help="keys, in order")


def run(options: argparse.Namespace) -> int:
    """Press them."""
    pressed = b"".join(map(bytes_of, options.keys))
    return deliver(options, InputKind.KEYS, pressed)
