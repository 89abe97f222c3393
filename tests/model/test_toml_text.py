import pytest

from holdfast.model.toml_text import MAX_DOTS, Problem, parsed

LIMIT = 1000


def test_what_is_right_is_read() -> None:
    assert parsed(b"a = 1\n[b]\nc = '\xc3\xa4'\n", LIMIT) == {"a": 1, "b": {"c": "ä"}}
    assert parsed(b"#" * LIMIT, LIMIT) == {}
    assert parsed(b"a = '" + b"." * MAX_DOTS + b"'", LIMIT) == {"a": "." * MAX_DOTS}


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"#" * (LIMIT + 1), "it is over 1000 bytes long"),
        (b"a = 1\n\xff", "line 2: it is not UTF-8"),
        (b"\n\na." + b"b." * MAX_DOTS, "line 3: it has over 64 dots in one line"),
        (
            b"a = 1\nb = \n",
            "line 2: it is not TOML: Invalid value (at line 2, column 5)",
        ),
        (b"a = " + b"[" * 900, "it is not TOML: "),
    ],
)
def test_what_is_wrong_is_named_with_its_line(raw: bytes, told: str) -> None:
    found = parsed(raw, LIMIT)

    assert isinstance(found, Problem)
    assert told in str(found)


def test_a_problem_says_where_it_is() -> None:
    assert str(Problem(3, "rule 2", "unknown name")) == "line 3: rule 2: unknown name"
