"""It may or may not have happened: look, do not repeat."""

from holdfast.model.errors.branches import Unsettled


class OutcomeUnknown(Unsettled):
    """The input may or may not have reached the program."""

    client: str
    sequence: int

    says = "whether input {client}/{sequence} was applied is not known"
    next_step = "Look at the screen before you decide to send it again."


class CreationUnknown(Unsettled):
    """The keeper went away while it was having a session made."""

    why: str

    says = "whether the session was started is not known: {why}"
    next_step = "`holdfast ls` shows whether it is there."


class StaleIncarnation(Unsettled):
    """The input was made for an earlier life of the session.

    This life has not applied it and never will. Whether that one had, before
    it ended, is not known here.
    """

    incarnation: int
    current: int

    says = "incarnation {incarnation} has ended; the session is now {current}"
    next_step = "Attach again and look: the session has been restored or moved."


class OutcomeForgotten(Unsettled):
    """The input was settled so long ago that its outcome is no longer kept."""

    client: str
    sequence: int

    says = "input {client}/{sequence} was settled; how is no longer kept"
    next_step = "Search the logbook for it: `holdfast log`."


class InputCut(Unsettled):
    """A seize or an end came while the input was being written."""

    written: int
    size: int

    says = "only {written} of {size} bytes were written"
    next_step = "Look at the screen: the program has seen part of it."


class ApprovalPending(Unsettled):
    """An input still waits for somebody's approval, and may yet be applied."""

    ticket: int
    rule: str

    says = "it waits for approval by rule {rule!r}, as request {ticket}"
    next_step = "`holdfast gate pending` shows what waits; do not send it again."


class CommandGoesOn(Unsettled):
    """A command was typed, and had not ended when the time was up."""

    start: int
    waited_ms: int
    state: str

    says = "the command is still running after {waited_ms} ms: the session is {state}"
    next_step = (
        "`holdfast wait NAME --for prompt` keeps waiting; "
        "`holdfast keys NAME C-c` stops it."
    )


class LineUnfinished(Unsettled):
    """The shell has taken a line, and waits for the rest of the command."""

    start: int

    says = "the line is not a complete command: the shell waits for the rest"
    next_step = "`holdfast keys NAME C-c` takes it back; then close every quote."


class EndUnknown(Unsettled):
    """A command is over, and the shell did not say how it ended."""

    number: int

    says = "command {number} has ended; its exit status is not known"
    next_step = "Look at its output and its effects."
