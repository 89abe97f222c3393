import pytest

from holdfast.linux.stored import checkpoint_paces, places
from holdfast.model.ids import SessionId

A = SessionId("s_" + "a" * 16)
B = SessionId("s_" + "b" * 16)


@pytest.fixture(autouse=True)
def _own_place(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", f"{tmp_path}/{name.lower()}")


def test_what_was_chosen_is_read_again() -> None:
    assert checkpoint_paces.chosen() == {}

    checkpoint_paces.choose(A, 600)
    checkpoint_paces.choose(B, 600)
    checkpoint_paces.choose(B, 0)

    assert checkpoint_paces.chosen() == {A: 600.0, B: 0.0}


@pytest.mark.parametrize("text", ["", "ten", "9" * 20, "1e3"])
def test_what_is_no_number_says_nothing(text: str) -> None:
    (places.log_dir() / f"{A}.log.every").write_text(text)
    (places.log_dir() / "s_odd.log.every").write_text("7")

    assert checkpoint_paces.chosen() == {}


def test_it_is_cleared_away_with_the_logbook() -> None:
    checkpoint_paces.choose(A, 600)

    for path in places.session_log_files(A):
        path.unlink(missing_ok=True)

    assert checkpoint_paces.chosen() == {}
