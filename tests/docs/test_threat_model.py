import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/explanation/threat-model.md").read_text()
CITED = sorted(
    {
        number.upper()
        for path in (ROOT / "src").rglob("*.py")
        for number in re.findall(r"\((?:threat )?([TF]\d\d)[,)]", path.read_text())
    }
)


def test_something_is_cited() -> None:
    assert len(CITED) > 5


@pytest.mark.parametrize("number", CITED)
def test_every_number_that_code_cites_is_explained(number: str) -> None:
    assert f"| {number} |" in PAGE
