"""What approvers are told about a pending input."""

import msgspec

from holdfast.core.book.entries import is_secret
from holdfast.core.capsule.preview_text import brief, outdated
from holdfast.core.input import gate
from holdfast.holder.policy.staged_words import shown
from holdfast.model.inputs import Input
from holdfast.model.policy_questions import Question
from holdfast.model.preview_report import PreviewReport
from holdfast.wire import messages as wire


def told(
    sought: gate.SeekApproval,
    given: Input,
    asked: Question | None,
    report: PreviewReport | None,
    *,
    echo_off: bool,
) -> wire.Pending:
    """Return what is shown of an input that waits.

    With what a preview of it showed, if there was one. Of a secret nothing is shown
    but how long it is.
    """
    payload = b"" if is_secret(given, echo_off=echo_off) else given.payload
    runs, uses = shown(None if asked is None else asked.resolution)
    return wire.Pending(
        ticket=sought.ticket,
        actor=sought.actor,
        kind=given.kind,
        epoch=given.epoch if sought.epoch is None else sought.epoch,
        digest=sought.digest,
        size=len(given.payload),
        excerpt=payload[: wire.MAX_EXCERPT],
        rule=wire.fitting(sought.rule, wire.MAX_TEXT),
        program="",
        runs=runs,
        uses=uses,
        preview=None if report is None else brief(report),
    )


def told_again(pending: wire.Pending, asked: Question | None) -> wire.Pending:
    """Return what is shown of it now that it runs another thing than was shown."""
    runs, uses = shown(None if asked is None else asked.resolution)
    preview = None if pending.preview is None else outdated(pending.preview)
    return msgspec.structs.replace(pending, runs=runs, uses=uses, preview=preview)
