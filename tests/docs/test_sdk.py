import re
from pathlib import Path

import pytest
from tests.tools.running import run_tool

import holdfast

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/sdk.md").read_text("utf-8")
HOWTO = (ROOT / "docs/howto/use-the-sdk.md").read_text("utf-8")


def test_the_page_is_what_the_code_says() -> None:
    checked = run_tool("write_sdk_reference", "--check")

    assert (checked.returncode, checked.stdout) == (0, "")


def test_a_page_that_is_out_of_date_is_found_and_rewritten(tmp_path: Path) -> None:
    target = tmp_path / "sdk.md"
    target.write_text(PAGE.replace("run", "ran"), "utf-8")

    assert (
        run_tool("write_sdk_reference", "--check", "--target", str(target)).returncode
        == 1
    )
    assert run_tool("write_sdk_reference", "--target", target).returncode == 0
    assert target.read_text("utf-8") == PAGE


@pytest.mark.parametrize("word", sorted({*re.findall(r"session\.(\w+)\(", HOWTO)}))
def test_every_word_of_the_guide_is_there(word: str) -> None:
    assert callable(getattr(holdfast.Session, word))


@pytest.mark.parametrize("name", sorted({*re.findall(r"examples/(\w+\.py)", HOWTO)}))
def test_every_example_of_the_guide_is_there(name: str) -> None:
    assert (ROOT / "examples" / name).is_file()
