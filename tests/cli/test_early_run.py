"""What of `run` is begun early, and what is left; the rest is among the scenarios."""

import shlex
from collections.abc import Iterator

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession

from holdfast.cli import early_run, start
from holdfast.client import early_session
from holdfast.client.own_name import login_name
from holdfast.wire.first_messages import NotOneOfThese


@pytest.fixture(autouse=True)
def at_home(keeper: FakeKeeper) -> Iterator[None]:
    """Have a key of our own, and forget what a test has begun."""
    folder = keeper.folder / "config/operators" / login_name()
    (folder / "key").write_bytes(bytes(32))
    yield
    early_session.forget()


@pytest.mark.parametrize(
    "words",
    [
        ["run", "web"],
        ["run", "web", "--json", "true"],
        ["run", "web", "--timeout", "1", "true"],
        ["run", "box/web", "true"],
        ["run", "nobody", "true"],
        ["run", "web", " "],
        ["run", "web", "one\ntwo"],
        ["run", "web", "tab\there"],
        ["run", "web", "grün"],
        ["run", "web", "x" * early_run.MAX_LINE],
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_what_is_not_usual_is_not_begun(words: list[str], web: FakeSession) -> None:
    assert start._begun(start.EARLY["run"], words[1:]) is None  # noqa: SLF001
    assert web.attaches == []
    assert early_session.begun(web.id) is None


def test_a_shell_without_marks_is_left_before_anything_is_typed(
    web: FakeSession,
) -> None:
    with pytest.raises(NotOneOfThese):
        early_run.run("web", ["true"])

    assert web.attaches == []
    assert early_session.begun_as("web") is not None  # The ordinary way goes on.


@pytest.mark.parametrize(
    "words", [["ls", "-l"], ["echo", "two words", "it's"], ["a=b", ""], ["x", "é"]]
)
def test_words_become_the_line_that_a_shell_reads_them_from(words: list[str]) -> None:
    line = early_run._line(words)  # noqa: SLF001

    assert line == (shlex.join(words).encode() if "é" not in words else b"")
