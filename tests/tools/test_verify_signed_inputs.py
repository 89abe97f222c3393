from dataclasses import replace

import pytest
from tests.core.test_input_chain import (
    BOT,
    BOT_KEY,
    KEY,
    SESSION,
    Book,
    chain_of_one,
    given,
    signed,
)
from tools.verify_logbook import check_export

from holdfast.core.input_chain import Statement, without_salts
from holdfast.core.log_export import export_lines


def checked(book: Book) -> str:
    lines = [entry.line for entry in book.entries()]
    return check_export(
        b"".join(line + b"\n" for line in export_lines(SESSION, lines, None))
    )


def kept(*statements: Statement | None) -> Book:
    book = Book()
    for statement in statements:
        book.keep(statement)
    return book


def test_t35_what_operators_signed_is_counted() -> None:
    book = Book()
    book.admit(given(1))
    book.admit(given(2), hidden=True)
    book.keep(without_salts(signed(2), hidden=[2]))
    book.admit(given(3))

    assert "2 of 3 inputs are signed by their operators." in checked(book)


def test_t35_an_input_that_its_operator_did_not_make_is_found_out() -> None:
    book = Book()
    book.admit(given(1, b"rm -r /\r"))
    book.keep(signed(1))

    with pytest.raises(ValueError, match="signed another"):
        checked(book)


def test_t35_an_input_under_another_name_is_found_out() -> None:
    book = Book()
    book.admit(replace(given(1), actor=BOT))
    book.keep(signed(1))

    with pytest.raises(ValueError, match="another operator"):
        checked(book)


def test_t35_a_host_cannot_sign_for_an_operator() -> None:
    made = signed(1)

    with pytest.raises(ValueError, match="first of its operator"):
        checked(kept(chain_of_one().sign(BOT_KEY)))
    with pytest.raises(ValueError, match="did not sign"):
        checked(kept(replace(made, signature=KEY.sign(b"something else"))))


def test_t35_a_statement_that_is_missing_or_none_is_found_out() -> None:
    made = signed(2)

    with pytest.raises(ValueError, match="missing"):
        checked(kept(replace(made, last=3)))
    with pytest.raises(ValueError, match="no statement"):
        checked(kept(replace(made, steps=())))
    with pytest.raises(ValueError, match="missing"):
        checked(kept(made, made))
