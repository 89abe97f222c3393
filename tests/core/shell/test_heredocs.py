from itertools import pairwise

import pytest

from holdfast.core.policy.policy import commands_in
from holdfast.core.provenance.staged import MAX_PARTS
from holdfast.core.shell.command_line import MAX_TEXT, read_line
from holdfast.core.shell.heredocs import has_heredoc, is_long, typed_part
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, Question
from holdfast.model.resolutions import Link, Resolution, Resolved, Sort

LINE = b"cat <<'E' >x\r"
LONG = LINE + b"y" * 600 + b"\r" + b"z" * 600 + b"\rE\r"


def read(text: str) -> str:
    """Return why a text cannot be read; empty if it can."""
    return read_line(text.encode(), Grammar.BASH, ended=True)[0].doubt


def test_a_line_with_heredocs_has_them() -> None:
    assert has_heredoc(read_line(LONG, Grammar.BASH, ended=False))
    assert not has_heredoc(read_line(b"cat <<< E", Grammar.BASH, ended=True))


@pytest.mark.parametrize(
    ("payload", "is_so"),
    [
        (LONG, True),
        (LONG.replace(b"\r", b"\n"), True),
        (LONG[:-1], False),
        (LINE + b"y\rE\r", False),
        (b"\r" * MAX_PARTS, True),
        (b"\n" * (MAX_PARTS - 1), False),
    ],
)
def test_what_a_shell_cannot_tell_is_long(payload: bytes, *, is_so: bool) -> None:
    assert is_long(payload) is is_so


@pytest.mark.parametrize("cuts", [(), (5,), (12, 13), (13,), (100, 700), (1216,)])
def test_of_a_long_one_the_first_line_is_typed(cuts: tuple[int, ...]) -> None:
    borders = [0, *cuts, len(LONG)]
    parts = [slice(*ends) for ends in pairwise(borders)]

    assert b"".join(typed_part(LONG, part) for part in parts) == LINE


def test_lines_are_as_long_as_a_terminal_keeps_and_a_text_longer() -> None:
    body = "\n".join(["y" * 4000] * 10)

    assert not read(f"cat <<'E'\n{body}\nE")
    assert "4096" in read(f"cat <<'E'\n{'y' * 5000}\nE")
    assert str(MAX_TEXT) in read("cat <<'E'\n" + "y\n" * MAX_TEXT + "E")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cat <<'E'\na\rE", "more than one line"),
        ("cat <<'E'\na\tb\nE", "control"),
        ("cat <<'E'\na\u200b\nE", "cannot be seen"),
        ("cat <<'E'\na", "does not end"),
        ("cat <<E\n$x\nE", "expands"),
        ("cat <<'E'\n!x\nE", "repeat"),
        ("cat <<'E'\na\nE\nrm x", "more than one line"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, why: str) -> None:
    assert why in read(text)


def test_what_stands_in_quotes_is_not_expanded() -> None:
    for start in ("'E'", '"E"', r"\E"):
        assert not read(f"cat <<{start}\n$x `y` \\\nE")


def test_an_alias_may_read_it_otherwise() -> None:
    def asked(*links: Link) -> Question:
        return Question(  # noqa: S604  # not a process
            Actor(actor_id(b"bot"), ActorKind.AGENT, "bot"),
            InputKind.COMMAND,
            b"cat <<'E'\nrm x\nE",
            SessionId("s_" + "a" * 16),
            "agent-1",
            LocalTime(0, 0),
            staged=b"",
            shell="bash",
            resolution=Resolution((Resolved(links),)),
        )

    assert not commands_in(asked(Link(Sort.PROGRAM, "/bin/cat")))[0].doubt
    assert commands_in(asked(Link(Sort.ALIAS, "cat", b"", "cat #")))[0].doubt
