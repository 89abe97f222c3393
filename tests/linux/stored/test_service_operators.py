import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.client import current_operator
from holdfast.linux.stored import operators
from holdfast.linux.stored.service_operators import is_service, service
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import OperatorTaken


@pytest.fixture(autouse=True)
def _own_place(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", f"{tmp_path}/{name.lower()}")


def test_a_service_is_made_known_once_with_its_rights_and_no_key() -> None:
    made = service("reaper", Right.END, Right.OBSERVE)

    assert made.actor.kind is ActorKind.SERVICE
    assert made.promised is not None
    assert made.promised.rights == {Right.END, Right.OBSERVE}
    assert not made.is_at_home
    assert made.token()
    assert service("reaper", Right.OBSERVE, Right.END) == made
    assert len(operators.enrolled()) == 1


def test_a_service_is_made_known_once_though_many_ask_at_the_same_moment() -> None:
    together = threading.Barrier(8)

    def ask(_: int) -> operators.Enrolled:
        together.wait()
        return service("reaper", Right.END)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, range(8)))

    assert len(set(found)) == 1
    assert found[0].token()


def test_somebody_else_of_that_name_is_not_taken_for_it() -> None:
    current_operator.enrol("reaper", ActorKind.AGENT)

    with pytest.raises(OperatorTaken):
        service("reaper", Right.END)


def test_a_service_with_other_rights_is_not_taken_for_it() -> None:
    service("reaper", Right.END, Right.GRANT)

    with pytest.raises(OperatorTaken):
        service("reaper", Right.END)


def test_a_service_is_told_from_whoever_else_is_known() -> None:
    made = service("drain", Right.OBSERVE)
    terms = operators.Terms("moved", Envelope(frozenset()))
    kind = ActorKind.SERVICE
    other = operators.enrol("bot", kind, b"k" * 32, None, b"t" * 32, terms)

    assert is_service(made)
    assert not is_service(other)
