"""Removes the record of a session that has ended, before the rest is loaded.

What `keeper.request(Forget(…))` sends, proven in the same way. Asked a second time it
does nothing, so that whatever is unusual is left to that.
"""

from holdfast.client.wanted_session import now_ms
from holdfast.crypto.proof import change_proof
from holdfast.linux.early_requests import EarlyRequest, Facts
from holdfast.wire import plain_json
from holdfast.wire.creation import change_bytes


def forget(session: str, actor: str, token: bytes) -> None:
    """Have the keeper remove a record.

    Raises:
        NotOneOfThese: It does not say that it did.
        OSError: There is no keeper.
        HoldfastError: Its place is not ours.

    """
    asked: Facts = {
        "do": "forget",
        "id": session,
        "asker": actor,
        "asked_ms": now_ms(),
    }
    proof = change_proof(token, change_bytes(asked)).hex()
    request = EarlyRequest(plain_json.dumps({**asked, "proof": proof}).encode())
    try:
        request.answer()
    finally:
        request.close()
