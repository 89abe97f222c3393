"""It may or may not have happened: look, do not repeat."""

from holdfast.model.errors.branches import Unsettled


class OutcomeUnknown(Unsettled):
    """The input may or may not have reached the program."""

    client: str
    sequence: int

    says = "whether input {client}/{sequence} was applied is not known"
    next_step = "Look at the screen before you decide to send it again."


class CreationUnknown(Unsettled):
    """The keeper died while it was starting a session."""

    why: str

    says = "whether the session was started is not known: {why}"
    next_step = "`holdfast ls` shows whether it was started."


class StaleIncarnation(Unsettled):
    """The input was made for an earlier incarnation of the session.

    This life has not applied it and never will. Whether that one had, before
    it ended, is not known here.
    """

    incarnation: int
    current: int

    says = "incarnation {incarnation} has ended; the session is now {current}"
    next_step = "Attach again and look: the session was recovered, restored or moved."


class OutcomeForgotten(Unsettled):
    """The input was settled so long ago that its outcome is no longer stored."""

    client: str
    sequence: int

    says = "input {client}/{sequence} was settled; its outcome is no longer stored"
    next_step = "Search the logbook for it: `holdfast log`."


class InputCut(Unsettled):
    """A seize or an end came while the input was being written."""

    written: int
    size: int

    says = "only {written} of {size} bytes were written"
    next_step = "Look at the screen: the program has seen part of it."


class ApprovalPending(Unsettled):
    """The input still waits for approval, and may yet be applied."""

    ticket: int
    rule: str

    says = "waiting for approval by rule {rule!r}, as request {ticket}"
    next_step = "`holdfast gate pending` lists pending requests; do not send it again."


class CommandGoesOn(Unsettled):
    """The command had not ended when the time was up; it keeps running."""

    start: int
    waited_ms: int
    state: str

    says = "the command is still running after {waited_ms} ms: the session is {state}"
    next_step = (
        "`holdfast wait NAME --for prompt` keeps waiting; "
        "`holdfast keys NAME C-c` stops it."
    )


class LineUnfinished(Unsettled):
    """The shell waits for the rest of an incomplete command."""

    start: int

    says = "the line is not a complete command: the shell waits for the rest"
    next_step = "`holdfast keys NAME C-c` cancels it; then close every quote."


class EndUnknown(Unsettled):
    """The command has ended, and the shell did not report its exit status."""

    number: int

    says = "command {number} has ended; its exit status is not known"
    next_step = "Look at its output and its effects."
