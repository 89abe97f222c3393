import datetime as dt
import shutil
from pathlib import Path

import pytest
from tools.changelog import ROOT, main, read_fragments

BEFORE = """\
# Changes

## Unreleased

### Added

- A thing.

## 0.1.0, 2026-01-01

### Fixed

- Something old.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG.md").write_text(BEFORE)
    (tmp_path / "changes").mkdir()
    return tmp_path


def fragment(tree: Path, name: str, text: str) -> None:
    (tree / "changes" / name).write_text(text)


def test_fragments_join_what_is_there_by_kind_and_are_gone(tree: Path) -> None:
    fragment(tree, "b.added.md", "Another.\nIt has two lines.\n")
    fragment(tree, "a.security.md", "A hole is closed.\n")

    assert main([], tree) == 0

    assert (tree / "CHANGELOG.md").read_text() == BEFORE.replace(
        "### Added\n\n- A thing.\n",
        "### Security\n\n- A hole is closed.\n\n"
        "### Added\n\n- A thing.\n- Another. It has two lines.\n",
    )
    assert list((tree / "changes").iterdir()) == []


def test_gathering_again_changes_nothing(tree: Path) -> None:
    main([], tree)
    assert (tree / "CHANGELOG.md").read_text() == BEFORE


def test_a_release_gets_its_title_and_leaves_an_empty_section(tree: Path) -> None:
    fragment(tree, "a.fixed.md", "Mended.\n")
    today = dt.datetime.now(dt.UTC).date()

    assert main(["--release", "0.2.0"], tree) == 0
    assert main([], tree) == 0

    told = (tree / "CHANGELOG.md").read_text()
    assert "## Unreleased\n\n\n" in told.replace(f"## 0.2.0, {today}", "\n")
    assert f"## 0.2.0, {today}\n\n### Added\n\n- A thing.\n\n### Fixed" in told
    assert told.endswith("- Something old.\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.nice.md", "x\n"),
        ("a.md", "x\n"),
        ("a.fixed.txt", "x\n"),
        ("a.fixed.md", " "),
    ],
)
def test_what_is_no_fragment_is_refused_and_nothing_is_changed(
    tree: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fragment(tree, name, text)

    assert main([], tree) == 1

    assert name in capsys.readouterr().err
    assert (tree / "CHANGELOG.md").read_text() == BEFORE
    assert (tree / "changes" / name).exists()


@pytest.mark.parametrize("text", ["# Changes\n", BEFORE.replace("- A", "A")])
def test_a_changelog_of_another_form_is_left_alone(tree: Path, text: str) -> None:
    (tree / "CHANGELOG.md").write_text(text)

    assert main([], tree) == 1
    assert (tree / "CHANGELOG.md").read_text() == text


def test_a_release_has_a_version(tree: Path) -> None:
    assert main(["--release", "soon"], tree) == 1


def test_our_own_fragments_can_be_gathered(tmp_path: Path) -> None:
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    shutil.copytree(ROOT / "changes", tmp_path / "changes")
    said = read_fragments(tmp_path / "changes").values()

    assert main(["--release", "9.9.9"], tmp_path) == 0

    told = (tmp_path / "CHANGELOG.md").read_text()
    assert [one for one in said if " ".join(one.split()) not in told] == []
