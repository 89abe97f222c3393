"""`holdfast deny`: deny an input that waits for approval."""

import argparse

from holdfast.cli.approvals import EXIT_LEFT, add_answer_arguments, answer
from holdfast.cli.manual import describe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    describe(
        parser,
        "Deny an input that a rule holds for approval. The input is shown first; on a"
        " terminal you are asked to confirm.",
        {
            "holdfast deny web": "the only input waiting there",
            "holdfast deny web 3": "the one under request 3",
            "holdfast gate pending": "everything that waits, in every session",
        },
        {EXIT_LEFT: "you did not confirm: it still waits"},
    )
    add_answer_arguments(parser)
    parser.add_argument("session", metavar="NAME", help="name, id, or start of an id")
    parser.add_argument(
        "ticket", metavar="TICKET", nargs="?", help="which request (the only one)"
    )


def run(options: argparse.Namespace) -> int:
    """Show the input, and deny it."""
    return answer(options, name=options.session, approve=False)
