from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session.session_state import (
    Doing,
    Evidence,
    Sleeper,
    Wait,
    Word,
    decide,
    is_alone,
)

GROUP = 7
WAITING = (Word.AT_PROMPT, Word.WAITING_FOR_INPUT, Word.WAITING_FOR_SECRET)

sleepers = st.builds(
    Sleeper,
    pid=st.sampled_from([GROUP, GROUP + 1, GROUP + 2]),
    name=st.just("it"),
    state=st.just("sleeping"),
    wait=st.sampled_from(Wait),
    where=st.just("sleeps"),
    is_busy=st.booleans(),
    is_sure=st.booleans(),
    others=st.integers(0, 2),
    size=st.sampled_from([0, 1, 1024, 4096, 8192]),
    keeps_jobs=st.booleans(),
)
evidence = st.builds(
    Evidence,
    foreground=st.sampled_from([None, GROUP]),
    sleepers=st.lists(sleepers, max_size=4).map(tuple),
    echo=st.booleans(),
    canonical=st.booleans(),
    unread=st.sampled_from([0, 0, 3]),
    is_frozen=st.booleans(),
    has_exited=st.booleans(),
)


def one(wait: Wait = Wait.READING, **more: object) -> Sleeper:
    facts = {"pid": GROUP, "name": "it", "state": "sleeping", "where": "waits"}
    return Sleeper(**{**facts, "wait": wait, **more})  # type: ignore[arg-type]


def seen(
    *who: Sleeper, echo: bool = True, canonical: bool = True, unread: int = 0
) -> Doing:
    return decide(Evidence(GROUP, who, echo, canonical, unread))


@given(evidence)
def test_i1_what_has_ended_or_stands_still_is_said_first(found: Evidence) -> None:
    said = decide(found)

    assert (said.word is Word.EXITED) == found.has_exited
    assert (said.word is Word.FROZEN) == (found.is_frozen and not found.has_exited)


@given(evidence)
def test_i2_somebody_waits_only_if_a_process_may_wait_for_typing(
    found: Evidence,
) -> None:
    may_wait = {each.wait for each in found.sleepers} & {
        Wait.READING,
        Wait.POLLING,
        Wait.UNSEEN,
    }

    if decide(found).word in WAITING:
        assert may_wait
        assert found.foreground is not None
        assert not found.unread


@given(evidence)
def test_i3_a_secret_is_a_line_that_is_not_shown(found: Evidence) -> None:
    if decide(found).word is Word.WAITING_FOR_SECRET:
        assert found.canonical
        assert not found.echo


@given(evidence)
def test_i4_only_a_shell_that_leads_the_foreground_has_a_prompt(
    found: Evidence,
) -> None:
    if decide(found).word is Word.AT_PROMPT:
        assert any(
            each.keeps_jobs and each.pid == found.foreground for each in found.sleepers
        )


@given(evidence)
def test_i5_nothing_unseen_makes_an_answer_sure(found: Evidence) -> None:
    said = decide(found)
    firm = [each for each in found.sleepers if each.is_sure]

    if said.is_sure and said.word in WAITING:
        assert {each.wait for each in firm} & {Wait.READING, Wait.POLLING}
    if said.is_sure and said.word is Word.RUNNING and not found.unread:
        assert Wait.UNSEEN not in {each.wait for each in found.sleepers}


@given(evidence)
def test_every_answer_has_a_reason(found: Evidence) -> None:
    assert all(decide(found).why)
    assert decide(found).why


def test_a_program_that_reads_lines_waits_for_input() -> None:
    assert seen(one()) == Doing(
        Word.WAITING_FOR_INPUT,
        is_sure=True,
        why=("it (7) waits", "the terminal reads lines with echo"),
    )


@pytest.mark.parametrize("wait", [Wait.READING, Wait.POLLING])
def test_a_line_without_echo_is_a_secret(wait: Wait) -> None:
    said = seen(one(wait, keeps_jobs=True, size=8192), echo=False)

    assert (said.word, said.is_sure) == (Word.WAITING_FOR_SECRET, True)


def test_a_shell_that_edits_its_line_is_at_its_prompt() -> None:
    said = seen(one(Wait.POLLING, keeps_jobs=True), echo=False, canonical=False)

    assert (said.word, said.is_sure) == (Word.AT_PROMPT, True)


@pytest.mark.parametrize(
    ("size", "word"),
    [
        (8192, Word.AT_PROMPT),
        (1024, Word.AT_PROMPT),
        (4096, Word.WAITING_FOR_INPUT),
        (1, Word.WAITING_FOR_INPUT),
    ],
)
def test_a_shell_without_an_editor_is_told_by_how_much_it_reads(
    size: int, word: Word
) -> None:
    assert seen(one(keeps_jobs=True, size=size)).word is word


@pytest.mark.parametrize(("pid", "keeps_jobs"), [(GROUP + 1, True), (GROUP, False)])
def test_whoever_else_reads_keys_wants_input(pid: int, *, keeps_jobs: bool) -> None:
    reader = one(Wait.POLLING, pid=pid, keeps_jobs=keeps_jobs)

    said = seen(reader, echo=False, canonical=False)

    assert (said.word, said.is_sure) == (Word.WAITING_FOR_INPUT, True)
    assert "key by key" in said.why[1]


def test_a_pipeline_that_reads_a_pipe_runs() -> None:
    said = seen(one(Wait.ELSEWHERE), one(Wait.ELSEWHERE, name="cat"))

    assert said == Doing(Word.RUNNING, is_sure=True, why=("cat (7) waits",))


def test_the_surest_reader_speaks_for_all() -> None:
    vague = one(Wait.POLLING, is_sure=False, name="vague")
    mixed = one(Wait.POLLING, others=2, name="mixed")
    firm = one(Wait.READING, name="firm")

    for order in ((vague, mixed, firm), (firm, mixed, vague)):
        assert seen(*order).why[0] == "firm (7) waits"
        assert seen(*order).is_sure


def test_a_reader_that_waits_for_more_than_typing_is_not_sure() -> None:
    said = seen(one(Wait.POLLING, others=2))

    assert (said.word, said.is_sure) == (Word.WAITING_FOR_INPUT, False)
    assert said.why[-1] == "2 more would wake it"


def test_a_server_at_work_that_would_take_a_key_runs() -> None:
    said = seen(one(Wait.POLLING, others=2), one(Wait.NOTHING, is_busy=True))

    assert (said.word, said.is_sure) == (Word.RUNNING, False)


def test_a_reader_beside_a_busy_process_is_not_sure() -> None:
    said = seen(one(), one(Wait.NOTHING, is_busy=True))

    assert (said.word, said.is_sure) == (Word.WAITING_FOR_INPUT, False)
    assert said.why[-1] == "a process beside it is at work"


def test_a_reader_that_is_inferred_is_not_sure() -> None:
    said = seen(one(is_sure=False))

    assert (said.word, said.is_sure) == (Word.WAITING_FOR_INPUT, False)
    assert "inferred" in said.why[-1]


def test_i2_what_was_typed_and_not_read_is_not_waited_for() -> None:
    said = seen(one(), unread=3)

    assert (said.word, said.is_sure) == (Word.RUNNING, True)


@pytest.mark.parametrize(
    ("echo", "canonical", "unread", "busy"), [*product([True, False], repeat=4)]
)
def test_whoever_hides_asks_for_a_secret_only_by_the_terminal(
    *, echo: bool, canonical: bool, unread: bool, busy: bool
) -> None:
    hidden = one(Wait.UNSEEN, is_busy=busy)

    said = seen(hidden, echo=echo, canonical=canonical, unread=int(unread))

    asks = canonical and not echo and not unread and not busy
    assert said.word is (Word.WAITING_FOR_SECRET if asks else Word.RUNNING)
    assert not said.is_sure


@pytest.mark.parametrize("found", [Evidence(), Evidence(GROUP)])
def test_a_terminal_that_nobody_has_means_running_and_not_sure(found: Evidence) -> None:
    said = decide(found)

    assert (said.word, said.is_sure) == (Word.RUNNING, False)


@pytest.mark.parametrize(
    ("others", "alone"),
    [
        ([], True),
        ([Wait.ELSEWHERE, Wait.NOTHING], True),
        ([Wait.READING], False),
        ([Wait.ELSEWHERE, Wait.POLLING], False),
        ([Wait.UNSEEN], False),
    ],
)
def test_whoever_may_read_beside_the_first_is_noticed(
    others: list[Wait],
    alone: bool,  # noqa: FBT001  # a parameter
) -> None:
    beside = [one(wait, pid=GROUP + 1) for wait in others]

    assert is_alone(Evidence(GROUP, (one(), *beside))) is alone
    assert not is_alone(Evidence(GROUP, tuple(beside)))


def test_what_has_no_lease_is_fenced_whatever_else_holds_it() -> None:
    found = Evidence(is_frozen=True, fenced="its lease ran out")

    doing = decide(found)

    assert doing == Doing(Word.FENCED, is_sure=True, why=("its lease ran out",))
