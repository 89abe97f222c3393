from tests.core.relay.test_lease_registry import (
    OTHER,
    SPAN,
    TTL,
    A,
    B,
    S,
    lease_held,
    life,
    record,
    refusal,
    renewal,
)

from holdfast.core.relay.lease_registry import (
    Grant,
    LeaseRegistry,
    Persist,
    Persisted,
    PersistFailed,
    Record,
    Route,
)
from holdfast.model.errors import RolledBack, StoreFailed


def test_i9_a_relay_without_a_store_believes_a_host_that_speaks() -> None:
    registry = LeaseRegistry([], 0.0, ttl=TTL)

    (persist,) = registry.handle(renewal(A, 3, 1), SPAN - 0.1)
    assert persist == Persist(1, record(A, 3))
    (granted,) = registry.handle(Persisted(1), SPAN)

    assert granted == Grant(S, A, life(3), TTL, 1)
    assert registry.route(S, SPAN) == Route(A, life(3))


def test_i9_one_that_had_fallen_silent_waits_until_nobody_can_speak() -> None:
    registry = LeaseRegistry([], 0.0, ttl=5.0)

    early = registry.handle(renewal(A, 3, is_speaking=False), SPAN - 0.1)
    (persist,) = registry.handle(renewal(A, 3, is_speaking=False), SPAN)

    # A relay may have granted longer leases before it lost its store.
    assert refusal(early[:1]).code == RolledBack.code
    assert isinstance(persist, Persist)


def test_i9_a_store_that_knows_others_believes_nobody_after_the_first_span() -> None:
    known = Record(OTHER, B, life(1), TTL)
    registry = LeaseRegistry([known], 0.0, ttl=TTL)

    late = registry.handle(renewal(A, 3), SPAN)

    assert refusal(late[:1]).code == RolledBack.code


def test_i9_who_was_believed_is_not_beside_another() -> None:
    registry = LeaseRegistry([], 0.0, ttl=TTL)
    registry.handle(renewal(A, 3, 1), 1.0)
    registry.handle(Persisted(1), 1.0)

    earlier = registry.handle(renewal(B, 2, 2), 2.0)
    later = registry.handle(renewal(B, 4, 3), 2.0)

    assert lease_held(earlier)[:2] == (A, 3)
    assert refusal(later[:1]).code == RolledBack.code
    assert registry.route(S, 2.0) is None


def test_i9_a_write_that_fails_leaves_it_unknown() -> None:
    registry = LeaseRegistry([], 0.0, ttl=TTL)
    registry.handle(renewal(A, 3, 1), 1.0)

    failed = registry.handle(PersistFailed(1), 1.0)

    assert refusal(failed).code == StoreFailed.code
    assert registry.holder(S) is None


def test_a_former_holder_is_told_who_lives_now_and_nobody_else_is() -> None:
    registry = LeaseRegistry([record(B, 3)], 0.0, ttl=TTL)

    told = registry.superseded(S, life(2), 1.0)

    assert told is not None
    assert (told.facts["holder"], told.facts["incarnation"]) == (B, 3)
    assert registry.superseded(S, life(3), 1.0) is None
    assert registry.superseded(S, life(0), 1.0) is None
    assert registry.superseded(OTHER, life(1), 1.0) is None
