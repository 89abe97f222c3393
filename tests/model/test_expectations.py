"""What an operator may expect, and how that is written down."""

import json

import pytest

from holdfast.model.errors import MalformedArgument
from holdfast.model.expectations import MAX_TEXT, Expectation, expectation_from


def test_an_expectation_is_read_back_as_it_was_written() -> None:
    made = Expectation(("build", "src/*.o"), (8080,), ("node",), None)

    assert expectation_from(made.to_text()) == made
    assert expectation_from(Expectation().to_text()) == Expectation()


def test_no_text_expects_nothing_that_could_be_compared() -> None:
    assert expectation_from("") is None


@pytest.mark.parametrize(
    "text",
    [
        "it works",
        "[]",
        '{"files":"build"}',
        '{"file":["build"]}',
        '{"ports":[0]}',
        '{"ports":[65536]}',
        '{"status":-1}',
        json.dumps({"files": ["a"] * 17}),
        json.dumps({"files": ["a" * 129]}),
        json.dumps({"files": ["/etc"]}),
        json.dumps({"files": ["a/../../b"]}),
        json.dumps({"files": ["a\\*"]}),
        json.dumps({"files": ["a\u202eb"]}),
        json.dumps({"processes": ["/bin/x"]}),
        "{" + " " * MAX_TEXT + "}",
    ],
)
def test_what_cannot_be_compared_is_refused(text: str) -> None:
    with pytest.raises(MalformedArgument):
        expectation_from(text)
