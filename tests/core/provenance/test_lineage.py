from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.provenance.lineage import ProcessStart, Root, roots

SHELL = ProcessStart(10, 1, 100)


def test_i1_the_leader_is_its_own_root() -> None:
    assert roots([SHELL], 10) == {10: Root(10, 100, is_by_time=False)}


def test_i1_what_descends_from_a_child_of_the_shell_belongs_with_it() -> None:
    found = roots(
        [
            SHELL,
            ProcessStart(11, 10, 200),
            ProcessStart(12, 11, 300),
            ProcessStart(13, 12, 400),
        ],
        10,
    )

    assert found[13] == found[12] == found[11] == Root(11, 200, is_by_time=False)


def test_i3_what_has_lost_its_parents_is_known_by_time() -> None:
    found = roots([SHELL, ProcessStart(20, 1, 300), ProcessStart(21, 20, 400)], 10)

    assert found[21] == found[20] == Root(20, 300, is_by_time=True)


def test_i2_a_parent_that_is_younger_than_its_child_is_somebody_else() -> None:
    found = roots([SHELL, ProcessStart(11, 10, 500), ProcessStart(12, 11, 300)], 10)

    assert found[12] == Root(12, 300, is_by_time=True)


def test_i2_a_leader_that_is_younger_is_somebody_else() -> None:
    found = roots([SHELL, ProcessStart(9, 10, 50)], 10)

    assert found[9] == Root(9, 50, is_by_time=True)


def test_i3_without_a_leader_everything_is_known_by_time() -> None:
    found = roots([ProcessStart(11, 10, 200), ProcessStart(12, 11, 300)], -1)

    assert found[12] == Root(11, 200, is_by_time=True)


def test_processes_that_claim_to_be_each_others_parents_are_traced_too() -> None:
    found = roots([ProcessStart(11, 12, 5), ProcessStart(12, 11, 5)], 10)

    assert found[11] == found[12]


def test_a_very_long_line_is_no_trouble() -> None:
    line = [ProcessStart(10 + n, 9 + n, 100) for n in range(20_000)]

    assert roots(reversed(line), 10)[20_009] == Root(11, 100, is_by_time=False)


kin = st.builds(ProcessStart, st.integers(1, 8), st.integers(0, 8), st.integers(0, 5))


@given(st.lists(kin, unique_by=lambda one: one.pid))
def test_i1_i2_i3_whatever_the_table_says(table: list[ProcessStart]) -> None:
    found = roots(table, 1)
    known = {one.pid: one for one in table}

    assert set(found) == set(known)
    for pid, root in found.items():
        assert known[root.pid].started == root.started <= known[pid].started
        if not root.is_by_time:
            assert 1 in (root.pid, known[root.pid].parent)
