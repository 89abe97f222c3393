from pathlib import Path

import pytest
from tests.tools.running import run_tool

from holdfast.model.errors import HoldfastError, leaves

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/errors.md").read_text("utf-8")


@pytest.mark.parametrize("kind", leaves(), ids=lambda kind: kind.code)
def test_every_error_is_on_the_page_under_its_branch(kind: type[HoldfastError]) -> None:
    branch = kind.__mro__[1].__name__
    section = PAGE.split(f"## {branch}: ")[1].split("\n## ")[0]

    assert section.count(f"| `{kind.code}` |") == 1


def test_the_page_is_what_the_code_says() -> None:
    checked = run_tool("write_reference", "--check")

    assert (checked.returncode, checked.stdout) == (0, "")


def test_a_page_that_is_out_of_date_is_found_and_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "errors.md"
    page.write_text(PAGE.replace("busy", "bizzy"), "utf-8")

    target = str(tmp_path)
    assert run_tool("write_reference", "--check", "--target", target).returncode == 1
    assert run_tool("write_reference", "--target", target).returncode == 0
    assert page.read_text("utf-8") == PAGE
