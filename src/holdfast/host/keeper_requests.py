"""The host's own requests to the keeper."""

import time

from holdfast.crypto.proof import host_token, proven_change
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.session_requests import ProvenChange
from holdfast.wire.creation import HOST

PATIENCE = 5.0
"""Seconds for an answer; a keeper that takes longer is asked again later."""


def vouched(asked: ProvenChange) -> ProvenChange:
    """Return a request about a session with the host's own proof.

    Whether the operator who wants it may is the host's to find out before.
    """
    now_ms = time.time_ns() // 1_000_000
    whole = asked._replace(asker=HOST, asked_ms=now_ms, proof="")
    return proven_change(whole, host_token(host_seed()))
