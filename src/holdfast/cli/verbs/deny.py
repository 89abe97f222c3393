"""`holdfast deny`: deny an input that waits for approval."""

import argparse

from holdfast.cli.approvals import add_answer_arguments, answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_answer_arguments(parser)
    parser.add_argument("session", metavar="NAME")
    parser.add_argument("ticket", metavar="TICKET", nargs="?")


def run(options: argparse.Namespace) -> int:
    """Show the input, and deny it."""
    return answer(options, name=options.session, approve=False)
