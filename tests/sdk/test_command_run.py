"""What is wished of a command that is run, read from what a caller says."""

import re

import pytest

from holdfast.model.errors import MalformedArgument
from holdfast.sdk.command_run import pattern_from


def test_a_pattern_is_a_text_bytes_or_one_that_was_made_before() -> None:
    made = re.compile(rb"a+\Z", re.IGNORECASE)

    assert pattern_from(made) is made
    assert pattern_from("ü+").pattern == "ü+".encode()
    assert pattern_from(b"\xff").search(b"\xff") is not None


@pytest.mark.parametrize("wanted", ["(", b"*", "[\x1b"])
def test_what_is_no_pattern_is_refused_with_why(wanted: str | bytes) -> None:
    with pytest.raises(MalformedArgument, match="a pattern: ") as caught:
        pattern_from(wanted)

    assert "\x1b" not in str(caught.value)
