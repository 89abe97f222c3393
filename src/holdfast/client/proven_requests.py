"""Requests in an operator's name, with what proves that.

`wanted_session` says what is proven of a creation, and with what.
"""

from holdfast.client.profile import our_id
from holdfast.client.wanted_session import (
    as_set,
    begun_here,
    now_ms,
    own_token,
    proven_facts,
)
from holdfast.model.ids import ActorId
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Creation, ProvenChange, Recover, packet_of


def made_here(asked: Creation) -> Creation:
    """Return a request for a session of this machine: our shell, our folder.

    Raises:
        UsageError: The present folder is gone.

    """
    words, env, window = as_set(asked.command, asked.env or {}, asked.window)
    command, folder = begun_here(words, asked.cwd)
    return asked._replace(
        command=tuple(command), cwd=folder, env=env or asked.env, window=window
    )


def proven(asked: Creation, actor: ActorId, token: bytes) -> Creation:
    """Return a request in the name of `actor`, with what proves that."""
    return record_of(Creation, proven_facts(packet_of(asked), actor, token))


def recovery_proven(asked: Recover, actor: ActorId, token: bytes) -> Recover:
    """Return a request for the next life of a session, in the name of `actor`."""
    facts = {name: value for name, value in packet_of(asked).items() if name != "do"}
    return record_of(Recover, proven_facts(facts, actor, token))


def recovery_by_us(asked: Recover) -> Recover:
    """Return a request for the next life of a session, in our own name.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    return recovery_proven(asked, our_id(), own_token())


def proven_by_us(asked: Creation) -> Creation:
    """Return a request in our own name.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    actor = our_id()  # Makes us known if need be.
    return proven(asked, actor, own_token())


def change_proven(asked: ProvenChange, asker: str, token: bytes) -> ProvenChange:
    """Return a request about a session with a proof of the operator's identity."""
    from holdfast.crypto.proof import proven_change  # noqa: PLC0415  # slow to load

    return proven_change(asked._replace(asker=asker, asked_ms=now_ms()), token)


def change_proven_by_us(asked: ProvenChange) -> ProvenChange:
    """Return a request about a session in our own name.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    return change_proven(asked, our_id(), own_token())
