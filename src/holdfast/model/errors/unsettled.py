"""It may or may not have happened: look, do not repeat."""

from holdfast.model.errors.branches import Unsettled


class OutcomeUnknown(Unsettled):
    """The input may or may not have reached the program."""

    code = "outcome-unknown"
    next_step = "Look at the screen before you decide to send it again."

    def __init__(self, client: str, sequence: int) -> None:
        super().__init__(
            f"whether input {client}/{sequence} was applied is not known",
            client=client,
            sequence=sequence,
        )


class CreationUnknown(Unsettled):
    """The keeper went away while it was having a session made."""

    code = "creation-unknown"
    next_step = "`holdfast ls` shows whether it is there."

    def __init__(self, why: str) -> None:
        super().__init__(f"whether the session was made is not known: {why}", why=why)


class StaleIncarnation(Unsettled):
    """The input was made for an earlier life of the session.

    This life has not applied it and never will. Whether that one had, before
    it ended, is not known here.
    """

    code = "stale-incarnation"
    next_step = "Attach again and look: the session has been restored or moved."

    def __init__(self, incarnation: int, current: int) -> None:
        super().__init__(
            f"incarnation {incarnation} is over; the session lives as {current}",
            incarnation=incarnation,
            current=current,
        )


class OutcomeForgotten(Unsettled):
    """The input was settled so long ago that its outcome is no longer kept."""

    code = "outcome-forgotten"
    next_step = "Search the logbook for it: `holdfast log`."

    def __init__(self, client: str, sequence: int) -> None:
        super().__init__(
            f"input {client}/{sequence} was settled; how is no longer kept",
            client=client,
            sequence=sequence,
        )


class InputCut(Unsettled):
    """A seize or an end came while the input was being written."""

    code = "input-cut"
    next_step = "Look at the screen: the program has seen part of it."

    def __init__(self, written: int, size: int) -> None:
        super().__init__(
            f"only {written} of {size} bytes were written", written=written, size=size
        )


class ApprovalPending(Unsettled):
    """An input still waits for somebody's approval, and may yet be applied."""

    code = "approval-pending"
    next_step = "`holdfast gate pending` shows what waits; do not send it again."

    def __init__(self, ticket: int, rule: str) -> None:
        super().__init__(
            f"it waits for approval by rule {rule!r}, as ticket {ticket}",
            ticket=ticket,
            rule=rule,
        )


class CommandGoesOn(Unsettled):
    """A command was typed, and had not ended when the time was up."""

    code = "command-goes-on"
    next_step = (
        "`holdfast wait NAME --for prompt` waits on; `holdfast keys NAME C-c` stops it."
    )

    def __init__(self, start: int, waited_ms: int, state: str) -> None:
        super().__init__(
            f"the command goes on after {waited_ms} ms: the session is {state}",
            start=start,
            waited_ms=waited_ms,
            state=state,
        )


class LineUnfinished(Unsettled):
    """The shell has taken a line, and waits for the rest of the command."""

    code = "line-unfinished"
    next_step = "`holdfast keys NAME C-c` takes it back; then close every quote."

    def __init__(self, start: int) -> None:
        super().__init__(
            "the line is no whole command: the shell waits for the rest", start=start
        )


class EndUnknown(Unsettled):
    """A command is over, and the shell did not say how it ended."""

    code = "end-unknown"
    next_step = "Look at what it printed, and at what it was to do."

    def __init__(self, number: int) -> None:
        super().__init__(
            f"command {number} is over; with which status is not known", number=number
        )
