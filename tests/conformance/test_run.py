from pathlib import Path

import pytest

from holdfast.conformance.clauses import CLAUSES, Clause
from holdfast.conformance.link import UnixCarrier
from holdfast.conformance.run import PARTS, conform
from holdfast.conformance.subject import Operator, Subject
from holdfast.conformance.verdict import Finding, Verdict

US = Operator("anna", "a_x", "human", b"")
SPEC = (Path(__file__).parents[2] / "docs/spec/wire.md").read_text("utf-8")


def subject_in(folder: Path) -> Subject:
    place = str(folder / "no.sock")
    return Subject(place, "s_x", lambda: UnixCarrier(place), US, None)


def test_nobody_at_an_address_passes_no_clause_that_was_tried(tmp_path: Path) -> None:
    told: list[Finding] = []

    found = conform(subject_in(tmp_path), told.append, frozenset({"greeting", "give"}))

    assert found == told
    assert [one.verdict for one in found] == [Verdict.FAIL, Verdict.NOT_TRIED]


def test_clauses_come_in_the_order_of_their_parts(tmp_path: Path) -> None:
    found = conform(subject_in(tmp_path), lambda _: None)
    order = [part.__name__ for part in PARTS]
    modules = [_clause(one.name).check.__module__ for one in found]

    assert modules == sorted(modules, key=order.index)
    assert len(found) == len(CLAUSES)


@pytest.mark.parametrize("one", CLAUSES, ids=[one.name for one in CLAUSES])
def test_every_clause_has_a_section_of_the_page(one: Clause) -> None:
    heading = f"\n{one.section}. " if "." in one.section else f"\n## {one.section}. "

    assert one.text
    assert heading in SPEC


def test_no_two_clauses_have_one_name() -> None:
    assert len({one.name for one in CLAUSES}) == len(CLAUSES)


def _clause(name: str) -> Clause:
    return next(one for one in CLAUSES if one.name == name)
