from holdfast.cli.table import table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table([("NAME", "NOW", ""), ("a", "reachable", "x"), ("bcdef", "", "")]) == [
        "NAME   NOW",
        "a      reachable  x",
        "bcdef",
    ]


def test_no_rows_are_no_lines() -> None:
    assert table([]) == []
