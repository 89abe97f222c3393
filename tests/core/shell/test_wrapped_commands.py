import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.shell.wrapped_commands import CARRYING, assigned, carried

words = st.lists(
    st.none() | st.sampled_from(["-u", "--", "-", "x", "A=b", "--user", "-n5", "-k"]),
    max_size=6,
)


def told(line: str) -> tuple[str | None, ...] | None:
    given = line.split()
    return carried(CARRYING[given[0]], given)


@pytest.mark.parametrize(
    ("line", "tail"),
    [
        ("sudo rm x", "rm x"),
        ("sudo -u anna -n rm x", "rm x"),
        ("sudo -nu anna rm", "rm"),
        ("sudo -uanna rm", "rm"),
        ("sudo --user=anna rm", "rm"),
        ("sudo --user anna --non-interactive rm", "rm"),
        ("sudo A=b -- rm", "-- rm"),
        ("sudo -- A=b rm", "rm"),
        ("env -i A=b B=c rm", "rm"),
        ("timeout -k 5 10 rm x", "rm x"),
        ("nice -n 5 rm", "rm"),
        ("xargs -0 -n1 rm -f", "rm -f"),
        ("exec -a x rm", "rm"),
        ("flock /lock rm", "rm"),
        ("command rm", "rm"),
    ],
)
def test_the_command_is_found_after_options_and_assignments(
    line: str, tail: str
) -> None:
    assert told(line) == tuple(tail.split())


@pytest.mark.parametrize("line", ["sudo", "env A=b", "command", "timeout 5"])
def test_nothing_may_be_carried(line: str) -> None:
    assert told(line) == ()


@pytest.mark.parametrize(
    "line",
    ["sudo -Z rm", "nice -5 rm", "sudo --what rm", "sudo --what=x rm", "env - rm"],
)
def test_an_option_that_nobody_knows_may_have_a_value(line: str) -> None:
    assert told(line) is None


def test_an_option_at_the_end_that_wants_a_value_leaves_it_open() -> None:
    assert told("sudo -u") is None


@pytest.mark.parametrize(
    "given",
    [
        ("sudo", None, "rm"),
        ("sudo", "-u", None, "rm"),
        ("timeout", None, "rm"),
        ("timeout", "--", None, "rm"),
    ],
)
def test_i2_a_word_that_is_not_known_is_never_passed_over(
    given: tuple[str | None, ...],
) -> None:
    assert carried(CARRYING[str(given[0])], given) is None


def test_a_first_word_that_is_not_known_is_carried_as_such() -> None:
    assert carried(CARRYING["nohup"], ("nohup", "--", None)) == (None,)


def test_what_is_set_for_the_command_is_told() -> None:
    assert assigned(CARRYING["env"], ("env", "-i", "A=b", None, "PATH=x")) == (
        "A",
        "PATH",
    )
    assert assigned(CARRYING["nice"], ("nice", "A=b")) == ()


@given(st.sampled_from(sorted(CARRYING)), words)
def test_i1_what_is_carried_is_a_tail_of_the_words(
    name: str, given: list[str | None]
) -> None:
    whole = (name, *given)
    found = carried(CARRYING[name], whole)

    assert found is None or whole[len(whole) - len(found) :] == found
