import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.errors import PeerError
from holdfast.term.cells import MAX_RUN, MAX_RUNS, Run, clean, runs_from
from holdfast.term.looks import EXACT, MAX_COLOUR, MAX_LOOK, Look

PIECES = st.sampled_from(
    [b"x", b"\x1b[1m", b"\x1b[0m", b"\r\n", b"\x1b", b"[38;5;", b"m", b"\xff", b";2;"]
)


@pytest.mark.parametrize(
    ("written", "runs"),
    [
        (b"plain", (Run(0, "plain"),)),
        (b"a\x1b[31mb", (Run(0, "a"), Run(0, "b", foreground=2))),
        (b"\x1b[97;104mx\x1b[39;49my", (Run(0, "x", 16, 13), Run(0, "y"))),
        (b"\x1b[1;2;8mx\x1b[22;28my", (Run(0, "x", look=67), Run(0, "y"))),
        (b"\x1b[38;5;1mred", (Run(0, "red", foreground=2),)),
        (b"\x1b[48;2;1;2;3mbg", (Run(0, "bg", background=EXACT + 0x010203),)),
        (b"\x1b[58;5;9m\x1b[4:3mu", (Run(0, "u", look=Look.UNDERLINE),)),
        (b"\x1b[1;7;53mx\x1b[my", (Run(0, "x", look=1 | 32 | 256), Run(0, "y"))),
        (b"\r\n\r\n two", (Run(2, " two"),)),
        (b"\x1b[1mx\r\ny", (Run(0, "x", look=1), Run(1, "y", look=1))),
        (b"\x1b[38mx", (Run(0, "x"),)),
        (b"\x1b[38;5mx", (Run(0, "x", foreground=1),)),
        (b"\x1b[38;2;999mx", (Run(0, "x", foreground=EXACT + 0xFF0000),)),
        (b"\x1b]8;;x\x07", (Run(0, "]8;;x\ufffd"),)),
    ],
)
def test_text_with_colours_is_read_as_runs(
    written: bytes, runs: tuple[Run, ...]
) -> None:
    assert runs_from(written) == runs


def test_i3_a_long_run_is_continued_by_another() -> None:
    runs = runs_from(b"x" * (MAX_RUN + 1))

    assert [len(run.text) for run in runs] == [MAX_RUN, 1]


def test_i3_what_has_more_colours_than_can_be_is_cut() -> None:
    written = b"\r\n".join([b"\x1b[1mx\x1b[my"] * MAX_RUNS)

    assert len(runs_from(written)) == MAX_RUNS


@given(written=st.lists(PIECES).map(b"".join))
def test_i1_whatever_was_written_the_texts_are_clean(written: bytes) -> None:
    for run in runs_from(written):
        assert clean(run.text) == run.text


def test_i2_a_run_is_five_values_in_order() -> None:
    run = Run(3, "text", 2, 13, Look.BOLD)

    assert run.to_object() == [3, "text", 2, 13, Look.BOLD]
    assert Run.from_object([3, "text", 2, 13, 1]) == run


@given(
    run=st.builds(Run, st.integers(), st.text(), st.integers(), st.integers())
    | st.builds(Run, st.integers(0, 9), st.text(), look=st.integers(0, MAX_LOOK))
)
def test_i2_what_was_written_down_is_read_again(run: Run) -> None:
    read = json.loads(json.dumps(run.to_object()))

    assert Run.from_object(read) == run
    assert 0 <= run.foreground <= MAX_COLOUR


@pytest.mark.parametrize(
    "read", [None, {}, [], [0, "x", 0, 0], [0, 1, 0, 0, 0], [0, "x", 0, 0, "bold"]]
)
def test_i2_what_is_no_run_is_refused(read: object) -> None:
    with pytest.raises(PeerError):
        Run.from_object(read)
