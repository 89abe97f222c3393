import subprocess

import pytest

from holdfast.core.shell.command_line import MAX_LINE, doubtful_line, read_line
from holdfast.core.shell.globs import MAX_TEXT
from holdfast.core.shell.line_reader import MAX_COMMANDS, MAX_WORDS
from holdfast.core.shell.shell_grammar import Grammar
from holdfast.core.shell.simple_command import Command


def read(text: str) -> tuple[Command, ...]:
    return read_line(text.encode(), Grammar.BASH, ended=True)


def words(text: str) -> list[tuple[str | None, ...]]:
    return [command.words for command in read(text)]


def one(text: str) -> Command:
    (command,) = read(text)
    return command


PLAIN = [
    "put -l /tmp",
    "  put   -l  ",
    "put 'a  b' \"c d\" e\\ f",
    "p'u't \"x\"y\\z",
    'put "a\\"b\\\\c\\d"',
    "put '' \"\"",
    "X=1 Y='2 3' put x",
    "put a=b --c=d",
    "put x >/dev/null y 2>&1 z",
    "put a@b%c+d,e:f^g#h",
    "put 'ünïcode' '$x' '!'",
]
PUT = "exec 3>&1; put() { for word; do printf '%s\\0' \"$word\" >&3; done; }"


@pytest.mark.parametrize("line", PLAIN)
def test_known_words_are_those_that_a_shell_makes(line: str) -> None:
    made = subprocess.run(
        ["/bin/sh", "-c", f"{PUT}\n{line}"], capture_output=True, check=True
    )

    assert one(line).words == ("put", *made.stdout.decode().split("\0")[:-1])


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("r'm' \"x\"y\\z", [("rm", "xyz")]),
        ("a; b && c || d | e & f |& g", [(name,) for name in "abcdefg"]),
        (
            "ls $X *.py ~/x =y a{b,c} \"$Z\" 'lit$'",
            [("ls", None, None, None, "=y", "ab", "ac", None, "lit$")],
        ),
        ("~/bin/x", [(None,)]),
        ("a~b c=d", [("a~b", "c=d")]),
        ("x" * (MAX_TEXT + 1), [(None,)]),
        ("", [()]),
        ("> x", [()]),
    ],
)
def test_a_line_is_split_into_commands_and_words(
    line: str, found: list[tuple[str | None, ...]]
) -> None:
    assert words(line) == found


@pytest.mark.parametrize(
    ("line", "touched", "altered"),
    [
        ("PATH=/x ls", ("PATH=/x",), True),
        ('A="b c" ls', ("A=b c",), True),
        ("A+=1", ("A+=1",), True),
        ("ls > /etc/x", ("/etc/x",), True),
        ("ls >> $X", (None,), True),
        ("ls 2>&1 &> /dev/null", ("1", "/dev/null"), False),
        ("ls < /dev/null", ("/dev/null",), False),
        ("ls <x", ("x",), True),
        ("ls > 1", ("1",), True),
        ("ls >& x", ("x",), True),
        ("ls 2>&- <&3", ("-", "3"), False),
        ("'A=1' ls", (), False),
        ("ls A=1", (), False),
    ],
)
def test_assignments_and_redirections_are_no_words(
    line: str, touched: tuple[str | None, ...], *, altered: bool
) -> None:
    command = one(line)

    assert (command.touched, command.altered) == (touched, altered)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("cat <<E", "heredoc"),
        ("ls <(x)", "compound"),
        ("f() { x; }", "compound"),
        ("while x", "compound"),
        ("'", "quote"),
        ('"x', "quote"),
        ('"!x"', "repeat"),
        ("!!", "repeat"),
        ("^a^b", "repeat"),
        ("ls \\", "next line"),
        ("ls `abc", "inside another"),
        ("`abc", "inside another"),
        ("ls >", "nowhere"),
        ("ls > > x", "nowhere"),
        ("ls > ; x", "nowhere"),
        ("l\u0455", "ASCII"),
        ("'l\u0455'", "ASCII"),
        ("ls 'a\u200bb'", "seen"),
        ("ls\u00a0x", "seen"),
        ("a\nb", "one line"),
        ("a\rb", "one line"),
        ("a\tb", "control"),
        ("a\x7fb", "control"),
        ("a\u0085b", "control"),
        ("x" * (MAX_LINE + 1), "long"),
        ("a;" * (MAX_COMMANDS + 1), "commands"),
        ("a " * (MAX_WORDS + 1), "words"),
    ],
)
def test_what_a_text_does_not_tell_is_a_doubt(line: str, why: str) -> None:
    command = one(line)

    assert why in command.doubt
    assert command.words == ()
    assert command.moved


def test_single_quotes_keep_everything_as_it_is() -> None:
    assert words("echo '$(x) `y` \\'") == [("echo", "$(x) `y` \\")]
    assert words("echo '!z'") == [("echo", "!z")]


def test_keys_need_the_key_that_ends_the_line() -> None:
    assert read_line(b"ls", ended=False)[0].doubt == "the line is not finished"
    for end in (b"\r", b"\n", b"\r\n"):
        assert read_line(b"ls" + end, ended=False)[0].words == ("ls",)
    assert "one line" in read_line(b"ls\n\n", ended=False)[0].doubt


def test_what_is_not_utf_8_is_a_doubt() -> None:
    (command,) = read_line(b"ls \xff mkfs", ended=True)

    assert "UTF-8" in command.doubt
    assert "mkfs" in command.sight.everything


@pytest.mark.parametrize(
    ("line", "carries", "hides"),
    [
        ("ls", False, False),
        ("sudo ls", True, False),
        ("/usr/bin/env ls", True, False),
        ("$X ls", True, False),
        ("eval ls", False, True),
        ("xargs rm", False, True),
        ("- rm", True, False),
        ("find . -exec rm", True, False),
        ("trap rm EXIT", False, True),
        ("alias ls=rm", False, True),
        ("sh", False, True),
        ("sh -c ls", False, True),
        ("bash $X", False, True),
        ("python3.11 -c x", False, True),
        ("python3 x.py", False, False),
        ("python -m pytest", False, False),
        ("pythonic -c", False, False),
    ],
)
def test_commands_that_run_others_are_known(
    line: str, *, carries: bool, hides: bool
) -> None:
    command = one(line)

    assert (command.carries, command.hides) == (carries, hides)
    assert bool(command.sight.everything) is (carries or hides)


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("ls; x", False),
        ("cd /; x", False),
        ("cd -; x", True),
        ("pushd /; x", True),
        ("sudo y; x", False),
        ("eval y; x", True),
        ("$Y; x", True),
    ],
)
def test_what_may_change_the_folder_is_remembered(line: str, *, moved: bool) -> None:
    first, second = read(line)

    assert not first.moved
    assert second.moved is moved


def test_a_line_can_be_doubted_from_outside() -> None:
    (command,) = doubtful_line(b"rm \xff", "nobody knows")

    assert command.doubt == "nobody knows"
    assert "rm" in command.sight.everything
