import pytest

from holdfast.client.keeper import MAX_HINTS, resolve
from holdfast.model.errors import AmbiguousSession, SessionNotFound
from holdfast.model.ids import SessionId
from holdfast.model.session_record import SessionRecord


def listed(name: str, letters: str) -> SessionRecord:
    return SessionRecord(SessionId(f"s_{letters:a<16}"), name, 1, "running")


WEB, JOB = listed("web", "bbbbc"), listed("Job", "bbbbd")


@pytest.mark.parametrize("text", [WEB.id, "web", "WEB", "s_bbbbc", "s_bbbbca"])
def test_an_id_a_name_or_how_an_id_begins_is_enough(text: str) -> None:
    assert resolve(text, [WEB, JOB]) == WEB


@pytest.mark.parametrize("text", ["", "we", "s_", "s_bbb", "bbbbc", "s_bbbbx", "Web "])
def test_anything_less_is_not(text: str) -> None:
    with pytest.raises(SessionNotFound) as raised:
        resolve(text, [WEB, JOB])

    *near, listed = raised.value.__notes__
    assert listed == f"There is: web ({WEB.id}), Job ({JOB.id})"
    assert near == (["Did you mean web?"] if text in ("we", "Web ") else [])


def test_what_fits_two_is_not_guessed() -> None:
    with pytest.raises(AmbiguousSession):
        resolve("s_bbbb", [WEB, JOB])


def test_a_name_that_is_the_beginning_of_another_id_is_the_name() -> None:
    assert resolve("web", [listed("web2", "web2"), WEB]) == WEB


def test_no_session_and_many_are_said_as_such() -> None:
    with pytest.raises(SessionNotFound) as none:
        resolve("x", [])
    with pytest.raises(SessionNotFound) as many:
        resolve("x", [WEB] * 11)

    assert none.value.__notes__ == ["There is none."]
    assert many.value.__notes__[0].endswith("and 3 more")


def test_so_many_sessions_are_named_and_none_of_them_is_counted_as_more() -> None:
    with pytest.raises(SessionNotFound) as refused:
        resolve("x", [WEB] * MAX_HINTS)

    assert refused.value.__notes__[0].count("web (") == MAX_HINTS
    assert "more" not in refused.value.__notes__[0]


def test_of_what_was_asked_for_so_much_is_repeated_and_no_escape() -> None:
    for known in ([], [WEB, listed("x" * 99, "c"), listed("x" * 99, "d")]):
        with pytest.raises((SessionNotFound, AmbiguousSession)) as refused:
            resolve("x" * 99, known)
        assert "x" * 64 + "\N{HORIZONTAL ELLIPSIS}" in str(refused.value)
        assert "x" * 65 not in str(refused.value)
    with pytest.raises(SessionNotFound) as refused:
        resolve("\x1b[2J", [WEB])
    assert "\x1b" not in str(refused.value)
