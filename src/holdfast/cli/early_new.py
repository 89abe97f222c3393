"""A session made before the rest is loaded, and shown or told of."""

import os

from holdfast.cli import new_request
from holdfast.cli.new_request import NewOptions
from holdfast.client.proven_requests import proven_by_us
from holdfast.linux import early_requests
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Created, packet_of
from holdfast.wire.first_messages import NotOneOfThese

STARTING = "starting"
"""The state of a session whose command waits for somebody's approval."""


def new(options: NewOptions, *, detach: bool, as_json: bool) -> str | None:
    """Have a session made; return what `holdfast new --detach` prints.

    Otherwise it is shown, as far as that goes without the rest.
    """
    if not detach and not (os.isatty(0) and os.isatty(1)):
        return None
    asked = proven_by_us(new_request.asked(options))
    made = record_of(Created, early_requests.create(packet_of(asked)))
    if made.state == STARTING:
        raise NotOneOfThese
    if detach:
        return f"{(new_request.facts if as_json else new_request.sentence)(made)}\n"
    if not as_json:  # Else something is printed first.
        from holdfast.cli.early_attach import attach  # noqa: PLC0415  # only here

        attach(made.id, observes=False)
    return None
