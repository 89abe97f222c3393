import pytest

from holdfast.core.shell.shell_grammar import KNOWN, Grammar, grammar_of


@pytest.mark.parametrize(
    ("program", "grammar"),
    [
        ("bash", Grammar.BASH),
        ("/usr/bin/zsh", Grammar.ZSH),
        ("-fish", Grammar.FISH),
        ("/bin/dash", Grammar.DASH),
        ("sh", Grammar.UNKNOWN),
        ("python3", Grammar.UNKNOWN),
        ("", Grammar.UNKNOWN),
    ],
)
def test_a_shell_is_known_by_its_program(program: str, grammar: Grammar) -> None:
    assert grammar_of(program) is grammar


def test_every_grammar_but_the_unknown_one_is_known() -> None:
    assert {*KNOWN, Grammar.UNKNOWN} == set(Grammar)
