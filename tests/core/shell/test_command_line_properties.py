import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.line_reader import MAX_COMMANDS, MAX_WORDS

shown = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=9)
names = st.text("abcxyz", min_size=1, max_size=5).map(lambda name: f"x{name}")
odd = st.sampled_from([*"'\"\\$`;&|<>(){}!*?~=# \r\n\t\x1b\x7f", "rm", "a", "ü", "2"])

INSIDE = "'\"'\"'"
"""A quote inside of quotes."""

LEADS_ASTRAY = re.compile(r"\$[('{]|`|(?:^|\s)#")


@given(raw=st.binary(max_size=200), ended=st.booleans())
def test_no_bytes_raise_anything_i1_i3(raw: bytes, *, ended: bool) -> None:
    commands = read_line(raw, ended=ended)

    assert 1 <= len(commands) <= MAX_COMMANDS
    assert sum(len(command.words) for command in commands) <= MAX_WORDS


@given(st.lists(odd, max_size=40))
def test_no_mix_of_what_is_special_raises_anything_i1(parts: list[str]) -> None:
    assert read_line("".join(parts).encode(), ended=True)


@given(names, st.lists(shown.filter(lambda word: "\\" not in word), max_size=5))
def test_quoted_words_are_read_as_they_were_i2(name: str, words: list[str]) -> None:
    # Every one of them: shlex leaves some alone that mean something to fish.
    line = " ".join([name, *("'" + one.replace("'", INSIDE) + "'" for one in words)])

    (command,) = read_line(line.encode(), ended=True)

    pairs = zip(command.words, [name, *words], strict=not command.doubt)
    assert all(read in (None, word) for read, word in pairs)
    # A shell that looks for `!` is led astray by these, whatever quotes there are.
    may_repeat = "!" in line and LEADS_ASTRAY.search(line) is not None
    if INSIDE not in line and not may_repeat:
        assert not command.doubt


@given(st.lists(names, min_size=1, max_size=9), st.sampled_from([";", "&&", "|"]))
def test_joined_commands_are_taken_apart_i2(given: list[str], joint: str) -> None:
    commands = read_line(joint.join(given).encode(), ended=True)

    assert [command.words for command in commands] == [(name,) for name in given]
