import re
from pathlib import Path

import pytest

from holdfast.cli.main import VERBS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
CALL = re.compile(
    r"^(?:\$ )?(?:\.venv/bin/)?holdfast (?:--as \S+ )?([a-z][a-z-]*)", re.MULTILINE
)
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def told(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=told)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text("utf-8")) if ":" not in link]

    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=told)
def test_every_call_of_ours_is_of_a_verb_that_there_is(page: Path) -> None:
    blocks = "\n".join(BLOCK.findall(page.read_text("utf-8")))

    assert set(CALL.findall(blocks)) <= {*VERBS}


def test_every_page_can_be_found() -> None:
    index = (ROOT / "docs/README.md").read_text("utf-8")
    folders = ("docs/howto", "docs/explanation", "docs/reference", "docs/tutorial")
    pages = [page for page in PAGES if told(page.parent) in folders]

    assert [told(page) for page in pages if page.name not in index] == []
