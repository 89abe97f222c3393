from pathlib import Path

import pytest

from holdfast.linux import terminfo


def known(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name[0]).mkdir(parents=True, exist_ok=True)
        (folder / name[0] / name).write_bytes(b"x")


def test_this_machine_knows_what_sessions_are_told() -> None:
    assert terminfo.exists("xterm-256color")
    assert not terminfo.exists("no-such-terminal")
    assert not terminfo.exists("")


@pytest.mark.parametrize("variable", ["TERMINFO", "TERMINFO_DIRS"])
def test_a_terminal_is_found_where_ncurses_finds_it(
    variable: str, tmp_path: Path
) -> None:
    known(tmp_path, "vt100")

    assert terminfo.exists("vt100", {variable: str(tmp_path)}, ())
    assert not terminfo.exists("vt100", {}, ())


def test_a_terminal_is_found_at_home_and_by_its_letter_s_number(tmp_path: Path) -> None:
    (tmp_path / ".terminfo/78").mkdir(parents=True)
    (tmp_path / ".terminfo/78/xterm").write_bytes(b"x")

    assert terminfo.exists("xterm", {"HOME": str(tmp_path)}, ())


def test_what_is_unknown_is_replaced_by_the_best_that_is_known(tmp_path: Path) -> None:
    known(tmp_path, "vt100", "xterm", "foot")
    environment = {"TERMINFO": str(tmp_path)}

    assert terminfo.usable("foot", environment, ()) == "foot"
    assert terminfo.usable("alien", environment, ()) == "xterm"
    assert terminfo.usable("alien", {}, ()) == "xterm-256color"
