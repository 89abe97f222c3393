from holdfast.core.client.cleared_screen import cleared


def test_as_many_rows_are_pushed_out_at_the_top_as_there_are() -> None:
    assert cleared(24).count(b"\n") == 24


def test_another_screen_is_left_before_and_the_rest_cleared_last() -> None:
    made = cleared(1)

    assert made.index(b"\x1b[?1049l") < made.index(b"\n")
    assert made.endswith(b"\x1b[H\x1b[J")
