import pytest

from holdfast.core.shell.simple_command import Assignment, Command, Redirection, Way


@pytest.mark.parametrize(
    ("way", "target", "harmless", "writes"),
    [
        (Way.READ, "x", False, False),
        (Way.READ, "/dev/null", True, False),
        (Way.WRITE, "/dev/null", True, False),
        (Way.APPEND, "/dev/null", True, False),
        (Way.WRITE, "x", False, True),
        (Way.APPEND, None, False, True),
        (Way.BOTH, "/dev/null", False, True),
        (Way.DUPLICATE, "1", True, False),
        (Way.TEXT, "x", False, False),
    ],
)
def test_what_a_redirection_may_change(
    way: Way, target: str | None, *, harmless: bool, writes: bool
) -> None:
    redirection = Redirection(way, target)

    assert (redirection.is_harmless, redirection.writes) == (harmless, writes)


def test_a_command_is_altered_by_what_its_words_do_not_say() -> None:
    quiet = Redirection(Way.WRITE, "/dev/null")

    assert not Command(("ls",)).altered
    assert not Command(("ls",), redirections=(quiet,)).altered
    assert Command(("ls",), redirections=(quiet, Redirection(Way.READ, "x"))).altered
    assert Command(("ls",), assignments=(Assignment("X", "1"),)).altered


def test_a_command_is_moved_where_no_folder_is_known() -> None:
    assert Command(folders=()).moved
    assert not Command().moved
