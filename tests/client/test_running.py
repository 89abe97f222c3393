import pytest

from holdfast.client.errand import without_end_mark

MARK = b"\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m" + b" " * 79 + b"\r \r"


@pytest.mark.parametrize("output", [b"", b"one\r\n", b"no line end"])
def test_what_zsh_adds_before_its_prompt_is_taken_away(output: bytes) -> None:
    assert without_end_mark(output + MARK) == output
    assert without_end_mark(output + MARK.replace(b"%", b"#")) == output


@pytest.mark.parametrize(
    "output", [b"100%\r\n", b"50%   \r", MARK + b"more", b"# comment\r\n", b"% \r \r"]
)
def test_what_only_looks_like_it_stays(output: bytes) -> None:
    assert without_end_mark(output) == output
