import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.program_state import (
    LATELY,
    WORKING,
    Activity,
    refined,
)
from holdfast.core.session.session_state import (
    Doing,
    Evidence,
    Sleeper,
    Wait,
    Word,
    decide,
)

RESTING = Activity(quiet=40.0, processor=0.01)


def process(wait: Wait = Wait.POLLING, *, others: int = 0, **more: bool) -> Sleeper:
    return Sleeper(7, "agent", "sleeping", wait, "sleeps", others=others, **more)


def raw(*sleepers: Sleeper, unread: int = 0, echo: bool = False) -> Evidence:
    return Evidence(7, sleepers, echo=echo, canonical=False, unread=unread)


def said(seen: Evidence, lately: Activity) -> Doing:
    return refined(decide(seen), seen, lately)


def test_an_editor_that_rests_is_surely_idle() -> None:
    found = said(raw(process()), RESTING._replace(is_alternate=True))

    assert (found.word, found.program, found.is_sure) == (Word.IDLE, "agent", True)
    assert found.why == (
        "agent (7) sleeps",
        "it has printed nothing for 40 s",
        "it uses 1% of a processor",
    )


def test_an_agent_that_polls_more_than_keys_is_idle_but_not_surely() -> None:
    found = said(raw(process(others=12)), RESTING)

    assert (found.word, found.is_sure) == (Word.IDLE, False)
    assert found.why[-1] == "12 more would wake it"


@pytest.mark.parametrize(
    ("lately", "why"),
    [
        (Activity(quiet=0.1), "it printed something 0.1 s ago"),
        (Activity(processor=0.5), "it uses 50% of a processor"),
        (Activity(quiet=0.1, processor=0.0), "it printed something 0.1 s ago"),
    ],
)
def test_an_agent_that_thinks_is_busy(lately: Activity, why: str) -> None:
    found = said(raw(process(others=12)), lately)

    assert (found.word, found.program) == (Word.BUSY, "agent")
    assert why in found.why


def test_what_has_not_read_its_keys_is_busy() -> None:
    found = said(raw(process(others=1), unread=3), RESTING)

    assert found.word is Word.BUSY
    assert "3 bytes were typed that it has not read yet" in found.why


def test_what_works_beside_its_keys_is_busy() -> None:
    found = said(raw(process(others=1, is_busy=True)), RESTING)

    assert (found.word, found.is_sure) == (Word.BUSY, True)
    assert "a part of it runs" in found.why


def test_a_raw_program_that_waits_for_no_key_is_busy() -> None:
    found = said(raw(process(Wait.ELSEWHERE)), RESTING)

    assert (found.word, found.is_sure) == (Word.BUSY, True)
    assert "nothing of it waits for a key" in found.why


def test_a_hidden_full_screen_program_is_judged_by_what_it_does() -> None:
    hidden = raw(process(Wait.UNSEEN))

    rests = said(hidden, RESTING._replace(is_alternate=True))
    works = said(hidden, Activity(is_alternate=True, quiet=0.2))

    assert (rests.word, rests.is_sure) == (Word.IDLE, False)
    assert (works.word, works.is_sure) == (Word.BUSY, False)


@pytest.mark.parametrize(
    "seen",
    [
        raw(process()),
        raw(process(Wait.READING)),
        raw(process(Wait.UNSEEN)),
        raw(process(Wait.ELSEWHERE), echo=True),
        raw(process(), unread=2),
        raw(),
        Evidence(7, (process(others=3),)),
        Evidence(7, (process(others=3),), echo=False),
        Evidence(is_frozen=True, canonical=False),
    ],
)
def test_everything_else_is_said_as_before(seen: Evidence) -> None:
    assert said(seen, RESTING) == decide(seen)


def test_a_shell_at_its_prompt_stays_there() -> None:
    shell = raw(process(Wait.READING, keeps_jobs=True))

    assert said(shell, RESTING._replace(is_alternate=True)).word is Word.AT_PROMPT


def test_the_reader_s_name_is_told_before_the_first_of_the_group() -> None:
    first = Sleeper(7, "git", "sleeping", Wait.ELSEWHERE, "waits")
    pager = Sleeper(8, "less", "sleeping", Wait.READING, "reads")
    shown = Activity(is_alternate=True)

    assert said(raw(first, pager), shown).program == "less"
    assert said(raw(first), shown).program == "git"


@given(
    st.builds(
        Evidence,
        st.just(7),
        st.lists(
            st.builds(
                Sleeper,
                st.integers(7, 8),
                st.just("agent"),
                st.just("sleeping"),
                st.sampled_from(Wait),
                st.just("sleeps"),
                is_busy=st.booleans(),
                is_sure=st.booleans(),
                others=st.integers(0, 2),
                keeps_jobs=st.booleans(),
            ),
            max_size=3,
        ).map(tuple),
        st.booleans(),
        st.booleans(),
        st.integers(0, 1),
    ),
    st.builds(
        Activity,
        st.booleans(),
        st.none() | st.floats(0, 10),
        st.none() | st.floats(0, 1),
    ),
)
def test_the_invariants_hold_whatever_is_seen(seen: Evidence, lately: Activity) -> None:
    before, after = decide(seen), said(seen, lately)

    if after != before:
        assert before.word in (Word.RUNNING, Word.WAITING_FOR_INPUT)  # I1
        assert not seen.canonical
        assert after.program == "agent"
    if after.word is Word.IDLE:
        assert lately.quiet is None or lately.quiet >= LATELY  # I2
        assert lately.processor is None or lately.processor < WORKING
        if any(one.others for one in seen.sleepers) and after.is_sure:  # I3
            assert any(
                one.wait in (Wait.READING, Wait.POLLING) and not one.others
                for one in seen.sleepers
            )
