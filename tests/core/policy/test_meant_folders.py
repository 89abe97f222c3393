import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.policy.command_words import Match
from holdfast.core.policy.meant_folders import MeantFolders, lies_in

YES, NO, MAYBE = Match.YES, Match.NO, Match.MAYBE
HOME = "/home/ann"
WORK = MeantFolders(("~", "/srv"), ("~/.*", "~/bin", "*/.git"))
PROJECTS = MeantFolders(("~/*",), ("~/.*",))
BUT = MeantFolders((), ("/etc/ssh", "/dev/*"))
PATHS = st.lists(st.sampled_from(["a", ".b", "bin", ".git", "home", "ann", "srv"]))


@pytest.mark.parametrize(
    ("folders", "path", "has", "covers"),
    [
        (WORK, "/home/ann/a", YES, YES),
        (WORK, "/home/ann/a/.b", YES, YES),
        (WORK, "/home/ann", YES, NO),
        (WORK, "/home", NO, NO),
        (WORK, "/", NO, NO),
        (WORK, "/home/anna/x", NO, NO),
        (WORK, "/home/ann/.ssh/key", NO, NO),
        (WORK, "/home/ann/.bashrc", NO, NO),
        (WORK, "/home/ann/bin/x", NO, NO),
        (WORK, "/home/ann/bins", YES, YES),
        (WORK, "/home/ann/a/.git/hooks/x", NO, NO),
        (WORK, "/home/ann/a/.gitignore", YES, YES),
        (WORK, "/srv", YES, YES),
        (WORK, "/srv/x", YES, YES),
        (WORK, "/srvx", NO, NO),
        (PROJECTS, "/home/ann", NO, NO),
        (PROJECTS, "/home/ann/a/b", YES, YES),
        (PROJECTS, "/home/ann/.b", NO, NO),
        (BUT, "/etc/hosts", YES, YES),
        (BUT, "/etc", YES, NO),
        (BUT, "/", YES, NO),
        (BUT, "/etc/ssh/key", NO, NO),
        (BUT, "/dev", YES, NO),
        (BUT, "/dev/sda", NO, NO),
    ],
)
def test_a_folder_means_what_is_in_it_but_for_exceptions(
    folders: MeantFolders, path: str, has: Match, covers: Match
) -> None:
    assert folders.has(path, HOME) is has
    assert folders.covers(path, HOME) is covers


@pytest.mark.parametrize(
    ("path", "met"),
    [
        ("/home/ann/.ssh", YES),
        ("/home/ann/.ssh/key", YES),
        ("/home/ann", YES),
        ("/", YES),
        ("/home/ann/a", NO),
    ],
)
def test_what_prevents_meets_a_folder_also_from_above(path: str, met: Match) -> None:
    assert MeantFolders(("~/.ssh",)).meets(path, HOME) is met


def test_without_a_home_nobody_can_tell_what_lies_in_it() -> None:
    assert WORK.has("/srv/x", None) is MAYBE
    assert WORK.covers("/srv/x", None) is MAYBE
    assert WORK.meets("/x", None) is MAYBE
    assert BUT.covers("/x", None) is YES


def test_an_exception_at_the_root_lies_in_the_root_alone() -> None:
    folders = MeantFolders(("/",), ("/x*",))

    assert folders.covers("/", HOME) is NO
    assert folders.covers("/y", HOME) is YES


def test_an_exception_lies_in_what_stands_before_its_first_wildcard() -> None:
    for pattern in ("/a/?/b/*", "/a/*/b/?"):
        folders = MeantFolders(("/",), (pattern,))

        assert folders.covers("/a", HOME) is NO
        assert folders.covers("/b", HOME) is YES


@given(PATHS, PATHS)
def test_i1_i2_an_exception_takes_away_and_what_is_covered_is_had(
    parts: list[str], more: list[str]
) -> None:
    path = "/" + "/".join(parts)
    fewer = MeantFolders(WORK.meant, (*WORK.excepted, "/" + "/".join(more)))

    assert WORK.covers(path, HOME) is not YES or WORK.has(path, HOME) is YES
    assert fewer.has(path, HOME) is not YES or WORK.has(path, HOME) is YES
    assert fewer.covers(path, HOME) is not YES or WORK.covers(path, HOME) is YES


def test_a_path_lies_in_itself_and_in_the_root() -> None:
    assert lies_in("/a", "/a")
    assert lies_in("/a", "/")
    assert not lies_in("/ab", "/a")
