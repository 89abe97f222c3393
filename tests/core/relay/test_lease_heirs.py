from holdfast.core.relay.lease_heirs import Heirs
from holdfast.model.ids import HostId, SessionId

S = SessionId("s_one")
A, B, C = HostId("h_a"), HostId("h_b"), HostId("h_c")


def test_i1_a_session_that_nobody_has_may_be_claimed_by_anybody() -> None:
    assert Heirs({}).may_ask(S, A, holder=None)


def test_i2_knowing_the_id_of_a_session_is_not_enough_to_claim_it() -> None:
    heirs = Heirs({S: frozenset({B})})

    assert heirs.may_ask(S, A, holder=A)
    assert heirs.may_ask(S, B, holder=A)
    assert not heirs.may_ask(S, C, holder=A)


def test_i3_what_is_said_later_replaces_what_was_said_before() -> None:
    heirs = Heirs({S: frozenset({B})})

    heirs.entrust(S, frozenset({C}))
    assert not heirs.may_ask(S, B, holder=A)
    assert heirs.may_ask(S, C, holder=A)

    heirs.entrust(S, frozenset())
    assert not heirs.may_ask(S, C, holder=A)


def test_a_session_that_is_over_is_forgotten() -> None:
    heirs = Heirs({S: frozenset({B})})

    heirs.forget(S)
    heirs.forget(S)

    assert not heirs.may_ask(S, B, holder=A)
