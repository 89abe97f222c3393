import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.recording.masks import Masks

KEY = """\
-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmU
abc+/=
-----END OPENSSH PRIVATE KEY-----
after
"""


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("key AKIAABCDEFGHIJKLMNOP.", "key ********************."),
        ("ghp_" + "a" * 36, "*" * 40),
        ("github_pat_" + "a" * 30, "*" * 41),
        ("xoxb-1234567890", "*" * 15),
        ("sk-" + "b" * 24 + " x", "*" * 27 + " x"),
        ("eyJhbGciOiJI.eyJzdWIiOi.abcdefghij x", "*" * 34 + " x"),
        ("PASSWORD=hunter2 next", "PASSWORD=******* next"),
        ('"token": "abc", "b": 1', '"token": "***", "b": 1'),
        ("Authorization: Bearer abc.def", "Authorization: Bearer *******"),
        ("https://bea:pw@host/x", "https://bea:**@host/x"),
        ("the token is there", "the token is there"),
        ("AKIA is short", "AKIA is short"),
        ("https://host:80/x@y", "https://host:80/x@y"),
    ],
)
def test_what_looks_like_a_secret_is_hidden_and_nothing_else(
    text: str, hidden: str
) -> None:
    assert Masks().hidden(text) == hidden


def test_a_private_key_is_hidden_over_all_its_lines() -> None:
    masks = Masks()
    lines = masks.hidden(KEY).split("\n")

    assert lines[1] == "*" * 31
    assert lines[2] == "*" * 6
    assert lines[4] == "after"
    assert [len(one) for one in lines] == [len(one) for one in KEY.split("\n")]
    # In pieces, as it comes from a terminal.
    masks = Masks()
    pieces = [masks.hidden(line) for line in KEY.splitlines(keepends=True)]
    assert "".join(pieces).split("\n") == lines


def test_a_pattern_of_the_user_hides_what_fits_or_its_group() -> None:
    assert Masks(["hunter[0-9]"]).hidden("a hunter2 b") == "a ******* b"
    grouped = Masks(["id (?P<secret>[0-9]+)?;"])
    assert grouped.hidden("id 123; id ;") == "id ***; id ;"


def test_what_is_no_pattern_is_refused() -> None:
    with pytest.raises(re.error):
        Masks(["("])


@given(st.text(alphabet=st.sampled_from("abAKIA-=: \n\r\x1bpasword://@")))
def test_masking_changes_no_length_and_no_end_of_a_line(text: str) -> None:
    hidden = Masks().hidden(text)

    assert len(hidden) == len(text)
    assert [at for at, one in enumerate(text) if one == "\n"] == [
        at for at, one in enumerate(hidden) if one == "\n"
    ]
