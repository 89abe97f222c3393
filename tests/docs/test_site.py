import re
from pathlib import Path

import pytest
from tools.site import DOCS, check, foreign_loads, gather, listed, nav, pages

ANCHORED = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")


def test_the_navigation_lists_every_page_once_and_nothing_else() -> None:
    assert sorted(listed(nav())) == sorted(pages())


def test_the_navigation_has_a_tab_for_each_kind_of_page() -> None:
    tabs = [next(iter(one)) for one in nav() if isinstance(one, dict)]

    assert tabs == [
        *("Tutorials", "How-tos", "Reference", "Explanation", "Decisions"),
        *("Specifications", "Project"),
    ]


def test_pages_beside_the_documentation_are_linked_on_the_site() -> None:
    made = pages()

    assert "](../project/SECURITY.md)" in made["howto/capsules.md"]
    assert "](../howto/verify.md)" not in made["project/SECURITY.md"]
    assert "](../explanation/architecture.md)" in made["project/CONTRIBUTING.md"]


def test_a_link_to_what_is_not_on_the_site_becomes_its_text() -> None:
    assert "](../../tests" not in pages()["explanation/acceptance.md"]


def test_every_anchor_is_a_heading_of_its_page() -> None:
    made = pages()
    wrong = []
    for place, text in made.items():
        for page, anchor in ANCHORED.findall(text):
            target = (DOCS / place).parent / page if page else DOCS / place
            there = made.get(target.resolve().relative_to(DOCS).as_posix())
            if there is not None and anchor not in _slugs(there):
                wrong.append(f"{place}: {page}#{anchor}")

    assert wrong == []


def _slugs(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    kept = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
    return {re.sub(r"[-\s]+", "-", title) for title in kept}


def test_gathered_pages_and_pictures_are_those_of_the_site(tmp_path: Path) -> None:
    gather(tmp_path / "site")

    there = {
        page.relative_to(tmp_path / "site/docs").as_posix()
        for page in (tmp_path / "site/docs").rglob("*.md")
    }
    assert there == {*pages()}
    assert (tmp_path / "site/docs/images/icon.svg").exists()
    assert '"INHERIT"' in (tmp_path / "site/mkdocs.yml").read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img src="HTTP://example/pixel.png">',
        "@import 'https://fonts.example/css';",
        "a { background: url(https://example/x.png) }",
    ],
)
def test_what_a_page_loads_from_another_server_is_found(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(text, "utf-8")

    assert foreign_loads(text)
    assert check(tmp_path) == 1


def test_links_that_a_reader_follows_are_no_loads(tmp_path: Path) -> None:
    text = (
        '<a href="https://example/">x</a><link rel="canonical" href="https://e/">'
        '<img src="images/x.png">'
    )
    (tmp_path / "page.html").write_text(text, "utf-8")

    assert foreign_loads(text) == []
    assert check(tmp_path) == 0
