"""`holdfast deny`: refuse an input that waits for approval."""

import argparse

from holdfast.cli.approvals import EXIT_LEFT, add_answer_arguments, answer
from holdfast.cli.manual import describe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Refuse an input that a rule holds until somebody approves it. What is refused"
        " is shown first; on a terminal you are asked.",
        {
            "holdfast deny web": "the only input that waits there",
            "holdfast deny web 3": "the one under ticket 3",
            "holdfast gate pending": "what waits, in every session",
        },
        {EXIT_LEFT: "you were asked, and did not say yes: it still waits"},
    )
    add_answer_arguments(parser)
    parser.add_argument("session", metavar="NAME", help="name, id, or how an id begins")
    parser.add_argument(
        "ticket", metavar="TICKET", nargs="?", help="which (the only one)"
    )


def run(options: argparse.Namespace) -> int:
    """Show it, and answer."""
    return answer(options, name=options.session, approve=False)
