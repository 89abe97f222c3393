import pytest

from holdfast.core.shell.command_names import carries_another, hides_another


@pytest.mark.parametrize(
    ("words", "carries", "hides"),
    [
        ((), False, False),
        (("ls",), False, False),
        (("sudo", "ls"), True, False),
        ((None, "ls"), True, False),
        (("eval", "ls"), False, True),
        (("sh",), False, True),
        (("sh", None), False, True),
        (("sh", "-c"), False, True),
        (("sh", "x"), False, False),
        (("python3.11", "-m", "x"), False, False),
        (("pythonic", "-c"), False, False),
        (("prlimit", "rm"), True, False),
        (("sed", "1e rm x", "a"), False, True),
        (("gsed", "-n", "1p", "a"), False, False),
        (("ld-linux-x86-64.so.2", "/bin/rm"), True, False),
        (("ld", "rm"), False, False),
        (("mksh", "-c", "rm"), False, True),
        (("bindkey", "-s", "a", "rm"), False, True),
    ],
)
def test_a_command_that_runs_another_is_known_by_its_words(
    words: tuple[str | None, ...], *, carries: bool, hides: bool
) -> None:
    name = (words[0] if words else "") or ""

    assert carries_another(name, words) is carries
    assert hides_another(name, words) is hides
