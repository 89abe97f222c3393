"""`holdfast grant`: set an operator's rights in a session."""

import argparse
import re

from holdfast.cli.operator_names import actor_from
from holdfast.cli.turn_requests import add_operator_arguments, live_session, report
from holdfast.client.calls import request
from holdfast.model.envelopes import Right
from holdfast.model.errors import MalformedArgument, NoSuchRight
from holdfast.model.text import printable
from holdfast.wire.presence import Grant

_DURATION = re.compile(r"([0-9]{1,6})([smhd])", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("--for", dest="duration", metavar="T")
    add_operator_arguments(parser)
    parser.add_argument("rights", metavar="RIGHT", nargs="+")


def run(options: argparse.Namespace) -> int:
    """Grant the rights."""
    rights = tuple(sorted({_right(word) for word in options.rights}))
    for_ms = 0 if options.duration is None else duration_ms(options.duration)
    session = live_session(options.session)
    actor = actor_from(options.operator, session.id)
    done = request(session.id, Grant(actor, rights, for_ms))
    return report(options, session, done)


def duration_ms(text: str) -> int:
    """Parse a length of time.

    Raises:
        UsageError: The text is not a duration.

    """
    found = _DURATION.fullmatch(text)
    if found is None or not int(found[1]):
        raise MalformedArgument(printable(text, 64), "a time such as 45s, 10m or 2h")
    return int(found[1]) * _UNITS[found[2]] * 1000


def _right(word: str) -> str:
    if word not in list(Right):
        raise NoSuchRight(printable(word, 64))
    return word
