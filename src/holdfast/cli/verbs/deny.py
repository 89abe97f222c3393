"""`holdfast deny`: deny an input that waits for approval."""

import argparse

from holdfast.cli.approvals import add_ticket_arguments, answer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    add_ticket_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Show the input, and deny it."""
    return answer(options, name=options.session, approve=False)
