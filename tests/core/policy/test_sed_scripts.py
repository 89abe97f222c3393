import pytest

from holdfast.core.policy.sed_scripts import MAX_SCRIPT, is_plain


@pytest.mark.parametrize(
    "words",
    [
        ["-n", "1,80p"],
        ["-n", "$p", "a"],
        ["-n", "/from/,/to/p", "a"],
        ["-n", "/a\\/b/p"],
        ["s/old/new/"],
        ["-i", "s/old/new/g", "a", "b"],
        ["-i", "-e", "s/a/b/", "-e", "s|c|d|gI", "a"],
        ["-E", "s/(a)/\\1/2"],
        ["s/[0-9]*[^]x]/n/g"],
        ["-n", "/[a-z]/p"],
        ["3d;5q"],
        ["3d ; 5d;"],
        ["y/abc/xyz/"],
        ["="],
        ["--quiet", "p"],
        ["s/" + "a" * (MAX_SCRIPT - 5) + "/b/"],
    ],
)
def test_what_prints_and_replaces_is_plain(words: list[str]) -> None:
    assert is_plain(["sed", *words])


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-n"],
        ["-e"],
        ["e"],
        ["1e cat /x"],
        ["w x"],
        ["r x"],
        ["W x"],
        ["R x"],
        ["s/[/]/g;s/w f/x/"],
        ["s/[a/b/"],
        ["/[/]/p"],
        ["s/a/b/e"],
        ["s/a/b/w x"],
        ["s/a/b/gw x"],
        ["s/a/b\\\n/e"],
        ["s/a/b/;e"],
        ["s/a/b/}e"],
        ["p\ne x"],
        ["p #\ne x"],
        ["/a/e"],
        ["/a\\/e x"],
        ["\\xaxe"],
        ["-f", "script"],
        ["-s", "--file=x", "p"],
        ["--exp", "p"],
        ["-i.bak", "p"],
        ["p", "-n"],
        ["p", "--in-place"],
        ["p", None],
        [None],
        ["-e", None],
        ["p" + " " * MAX_SCRIPT],
        ["a text"],
        ["c text"],
        ["i text"],
        ["l"],
        ["F"],
        ["b"],
        ["{p}"],
    ],
)
def test_i1_what_could_execute_or_open_a_file_is_not(words: list[str | None]) -> None:
    assert not is_plain(["sed", *words])


def test_a_long_script_is_read_in_no_time() -> None:
    assert not is_plain(["sed", "/" * (MAX_SCRIPT - 1) + "!"])
    assert not is_plain(["sed", "s/\\." * 50])
