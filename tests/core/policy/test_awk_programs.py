import pytest

from holdfast.core.policy.awk_programs import MAX_PROGRAM, is_awk, is_plain
from holdfast.core.shell.command_names import hides_another


@pytest.mark.parametrize(
    "words",
    [
        ["{print $1}", "a"],
        ["-F,", "{s+=$2} END {print s}", "data.csv"],
        ["-F", ":", "NR==1 {print $NF}"],
        ["-v", "n=3", "$1 == n"],
        ["-vn=3", "/error/ {count++} END {print count}", None],
        ["{print}" + " " * (MAX_PROGRAM - len("{print}"))],
    ],
)
def test_what_computes_and_prints_is_plain(words: list[str | None]) -> None:
    assert is_plain(["awk", *words])
    assert not hides_another("awk", ["awk", *words])


@pytest.mark.parametrize(
    "words",
    [
        [],
        [None],
        ["-F"],
        ["-F", None, "{print}"],
        ["-f", "x"],
        ["--file=x"],
        ["-i", "inplace", "{print}"],
        ["-p", "{print}"],
        ["-o", "{print}"],
        ['BEGIN {system("x")}'],
        ['{print | "sh"}'],
        ['{print > "x"}'],
        ['{print >> "x"}'],
        ['BEGIN {while (getline x < "f") print x}'],
        ['BEGIN {ARGV[1]="/x"; ARGC=2} {print}'],
        ["BEGIN {@f()}"],
        ["BEGIN {print ENVIRON[x]}"],
        ["{print}" + " " * MAX_PROGRAM],
    ],
)
def test_i1_what_could_execute_or_open_a_file_is_not(words: list[str | None]) -> None:
    assert not is_plain(["awk", *words])
    assert hides_another("gawk", ["gawk", *words])


def test_awk_has_several_names() -> None:
    assert [
        name for name in ("awk", "gawk", "mawk", "nawk", "awka") if is_awk(name)
    ] == [
        "awk",
        "gawk",
        "mawk",
        "nawk",
    ]


def test_an_interpreter_that_says_its_version_hides_nothing() -> None:
    assert not hides_another("python3", ["python3", "--version"])
    assert hides_another("python3", ["python3", "--version", "x"])
    assert hides_another("eval", ["eval", "--version"])
