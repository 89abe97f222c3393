import itertools

import pytest

from holdfast.core.capsule.criu_words import (
    Afterwards,
    Dump,
    Restore,
    dump_words,
    restore_words,
)

DUMP = Dump(100, "/fd/5", "/fd/6", ["tty[8800:4b]"], has_own_net=False, seconds=20)
RESTORE = Restore("/fd/5", "/fd/6", [(9, "tty[8800:4b]")], has_own_net=False)


def pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(itertools.pairwise(words))


def test_a_dump_is_of_the_session_s_tree_into_the_folder_given() -> None:
    words = dump_words(DUMP)
    assert words[0] == "dump"
    for pair in [("-t", "100"), ("-D", "/fd/5"), ("-W", "/fd/6")]:
        assert pair in pairs(words)


def test_every_terminal_with_its_master_outside_is_declared() -> None:
    dump = Dump(1, "i", "w", ["tty[1:2]", "tty[3:4]"], has_own_net=True, seconds=1)
    words = pairs(dump_words(dump))
    assert ("--external", "tty[1:2]") in words
    assert ("--external", "tty[3:4]") in words


def test_a_restore_is_given_the_new_terminal_in_the_place_of_the_old() -> None:
    assert ("--inherit-fd", "fd[9]:tty[8800:4b]") in pairs(restore_words(RESTORE))


def test_no_options_are_read_from_files() -> None:
    # W1
    assert "--no-default-config" in dump_words(DUMP)
    assert "--no-default-config" in restore_words(RESTORE)


def test_a_dump_has_a_deadline() -> None:
    # W2
    assert ("--timeout", "20") in pairs(dump_words(DUMP))


def test_nothing_incremental_is_asked_for() -> None:
    # W3
    words = {*dump_words(DUMP), *restore_words(RESTORE)}
    assert not words & {"pre-dump", "--track-mem", "--prev-images-dir", "--lazy-pages"}


@pytest.mark.parametrize(
    ("own", "chosen", "other"),
    [
        (True, "--tcp-established", "--tcp-close"),
        (False, "--tcp-close", "--tcp-established"),
    ],
)
def test_connections_are_kept_where_both_ends_are_in_the_image(
    *, own: bool, chosen: str, other: str
) -> None:
    dump = Dump(1, "i", "w", [], has_own_net=own, seconds=1)
    for words in (
        dump_words(dump),
        restore_words(Restore("i", "w", [], has_own_net=own)),
    ):
        assert chosen in words
        assert other not in words


@pytest.mark.parametrize("afterwards", Afterwards)
def test_what_becomes_of_the_tree_is_said_once(afterwards: Afterwards) -> None:
    dump = Dump(1, "i", "w", [], has_own_net=False, seconds=1, afterwards=afterwards)
    words = [one for one in dump_words(dump) if one.startswith("--leave-")]
    assert words == [afterwards.value]


def test_watched_files_are_looked_for_only_where_any_are() -> None:
    dump = Dump(1, "i", "w", [], has_own_net=False, seconds=1, watched="/home/me")
    assert ("--irmap-scan-path", "/home/me") in pairs(dump_words(dump))
    assert "--force-irmap" not in dump_words(DUMP)


def test_a_frozen_group_is_named_so_that_the_dump_does_not_hang() -> None:
    dump = Dump(1, "i", "w", [], has_own_net=False, seconds=1, frozen_cgroup="/cg")
    assert ("--freeze-cgroup", "/cg") in pairs(dump_words(dump))
    assert "--freeze-cgroup" not in dump_words(DUMP)


@pytest.mark.parametrize("still", [False, True])
def test_a_restored_tree_stands_still_if_it_is_to(still: bool) -> None:  # noqa: FBT001  # of pytest
    restore = Restore("i", "w", [], has_own_net=False, is_still=still)
    assert ("--leave-stopped" in restore_words(restore)) is still
