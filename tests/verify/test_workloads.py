import subprocess
from pathlib import Path

import pytest

from holdfast.verify.workloads import (
    FLOOD_LINE,
    TICK_BYTES,
    consecutive,
    flooding,
    lines_read,
    reading,
    ticks,
)


def printed(*numbers: int) -> str:
    return "".join(f"tick {number:08d}\r\n" for number in numbers)


def test_a_tick_has_the_length_that_offsets_are_counted_by() -> None:
    assert len(printed(1)) == TICK_BYTES


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (printed(3, 4, 5), (3, 5, True)),
        (printed(3, 4, 5)[4:], (4, 5, True)),
        (printed(3, 4) + "tick 0000", (3, 4, True)),
        (printed(3, 5), (3, 5, False)),
        (printed(3, 3), (3, 3, False)),
        (printed(4, 3), (4, 3, False)),
        (printed(3) + "lost\r\nand more\r\n" + printed(4), (3, 4, False)),
        ("", (0, 0, False)),
    ],
)
def test_a_missing_tick_is_noticed(text: str, found: tuple[int, int, bool]) -> None:
    assert consecutive(text) == found


def test_the_last_whole_tick_counts(tmp_path: Path) -> None:
    file = tmp_path / "ticks"
    assert ticks(file) == (0, 0.0)

    file.write_text("")
    assert ticks(file) == (0, 0.0)
    file.write_text("1 10.5\n2 11.5\n3 1")
    assert ticks(file) == (2, 11.5)


def test_a_flood_has_lines_of_one_length() -> None:
    words = flooding(3)[1:]
    words[-2] = words[-2].replace("3600", "0")

    out = subprocess.check_output(words)

    assert [len(line) + 2 for line in out.splitlines()] == [FLOOD_LINE] * 3


def test_a_reader_writes_down_what_it_reads(tmp_path: Path) -> None:
    file = tmp_path / "read"

    subprocess.run(reading(file)[1:], input=b"one\ntwo\n", check=True)

    assert [text for _, text in lines_read(file)] == ["one", "two"]
