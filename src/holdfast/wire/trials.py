"""Wire form of a trial: what would happen to an input, by which policy.

Nothing is done by asking. Specified in docs/spec/wire.md, section 4.6.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.model.inputs import MAX_INPUT, InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages

MAX_CANDIDATE: Final = 128 * 1024
"""Bytes of a policy that is tried before it is applied: it has to fit a message."""

MAX_DIGEST: Final = 64
"""Hexadecimal digits of a policy's digest."""


class Try(messages.Part, frozen=True):
    """What would happen to this input by `actor` now? Nothing is done.

    With a `candidate` it is judged by that policy, which is not in force.
    """

    actor: messages.Actor
    kind: InputKind
    payload: Annotated[
        bytes, Meta(max_length=MAX_INPUT, extra_json_schema=messages.RAW)
    ]
    candidate: (
        Annotated[bytes, Meta(max_length=MAX_CANDIDATE, extra_json_schema=messages.RAW)]
        | None
    )


class Tried(messages.Part, frozen=True):
    """What would happen, by which rule, and why; what would run, as things are.

    `policy` is the digest of the policy that says so, as in the logbook.
    """

    verdict: Verdict
    rule: messages.Text
    why: messages.Text
    runs: Annotated[str, Meta(max_length=messages.MAX_RUNS)]
    uses: Annotated[tuple[messages.Staged, ...], Meta(max_length=messages.MAX_USED)]
    policy: Annotated[str, Meta(max_length=MAX_DIGEST)]
