from pathlib import Path

import pytest

from holdfast.linux.stored.fact_files import read_facts, write_facts


def test_facts_are_replaced_whole_and_for_us_alone(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    write_facts(file, {"a": 1})
    write_facts(file, {"b": [2]})

    assert read_facts(file, 4096) == {"b": [2]}
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["facts.json"]


@pytest.mark.parametrize("text", ["", "[]", "3", "{", '{"a": ' + "1" * 5000 + "}"])
def test_what_holds_no_facts_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "facts.json"
    file.write_text(text)

    with pytest.raises(ValueError, match=r"."):
        read_facts(file, 4096)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}")
    (tmp_path / "facts.json").symlink_to(tmp_path / "real")

    with pytest.raises(OSError, match="symbolic"):
        read_facts(tmp_path / "facts.json", 4096)
