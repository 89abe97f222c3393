"""Has a lost session begun again, in the name of whoever asks here."""

from holdfast.client import keeper
from holdfast.client.lost_sessions import Lost, demand_lost_as
from holdfast.client.proven_requests import recovery_by_us
from holdfast.client.wanted_session import are_we_a_person, environment
from holdfast.model.errors import NotRecoverable, SessionNotFound
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Created, Recover


def find_lost(text: str) -> Lost:
    """Return the lost session that is meant.

    Raises:
        UsageError: None that is called so was lost; or it still lives.

    """
    listed = keeper.sessions()
    try:
        return demand_lost_as(text, {one.id for one in listed})
    except SessionNotFound:
        found = keeper.resolve(text, listed)
        why = "it has ended; it was not lost" if found.exit is not None else "it lives"
        raise NotRecoverable(found.label, why) from None


def recover(one: Lost, name: str | None = None) -> Created:
    """Have the next life of a session begun; return what the keeper says of it.

    Raises:
        UsageError: It cannot be recovered, or is not lost.
        Forbidden: We may not start it.

    """
    if one.why:
        raise NotRecoverable(one.label, one.why)
    known = one.facts_known
    env = None
    if known is not None and known.environment is None:
        env = environment(is_personal=are_we_a_person())
    asked = Recover(recovers=one.id, name=name or one.name or one.id[2:8], env=env)
    return record_of(Created, keeper.request(recovery_by_us(asked)))
