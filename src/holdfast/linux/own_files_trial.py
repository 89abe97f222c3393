"""Whether a session can have its own files here, tested by making a capsule."""

import contextlib
import os

from holdfast.linux.capsule import trial
from holdfast.linux.own_files import trees_for
from holdfast.linux.stored import layer_store
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ENTROPY, session_id


def why_not() -> str:
    """Return why not; nothing if it can. What was made for it is gone already."""
    session = session_id(os.urandom(ENTROPY))
    try:
        stack = layer_store.make(session, trees_for("/"))
        return trial.why_not(layer_store.layered(stack))
    except HoldfastError as error:
        return str(error.facts.get("why", error))
    finally:
        with contextlib.suppress(HoldfastError):
            layer_store.remove(session)
