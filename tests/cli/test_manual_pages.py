import argparse

import pytest

from holdfast.cli.main import VERBS, Parser, module_of
from holdfast.cli.manual_pages import PAGES, Page, describe
from holdfast.model.envelopes import Right


def test_every_verb_has_a_page_and_every_page_a_verb() -> None:
    assert {one.stem for one in PAGES.iterdir()} == {*VERBS, "every_verb"}


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_tells_of_the_options_that_there_are_and_of_no_others(verb: str) -> None:
    page, parser = Page.of(verb), Parser(prog=f"holdfast {verb}")
    module_of(verb).add_arguments(parser)
    describe(parser, page)

    told = [one.help for one in parser._actions]  # noqa: SLF001  # argparse has no other way
    shown = [one for one in told if one not in (None, argparse.SUPPRESS)]
    assert shown[1:] == [*page.options.values()]


def test_what_a_verb_says_of_a_status_stands_in_the_place_of_what_all_say() -> None:
    statuses = Page.of("ask").statuses

    assert statuses["0"] != Page.of("drop").statuses["0"]
    assert statuses["141"] == Page.of("drop").statuses["141"]


def test_the_page_of_grant_lists_every_right() -> None:
    assert f"The rights are {', '.join(Right)}." in Page.of("grant").what
