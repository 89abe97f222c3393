"""Gather the pages of the documentation site, and look at what was built.

The site has the pages of docs/ and those at the root of the project that they link to.
Its navigation is the index, docs/README.md: each heading is a tab, each link of its
list a page, under the page's own title; the decisions are those in docs/adr.

    python -m tools.site gather FOLDER    write pages and mkdocs.yml there, for MkDocs
    python -m tools.site check FOLDER     exit 1 if a built page loads anything from
                                          another server
"""

import json
import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
ICON = ROOT / "web" / "public" / "icon.svg"
ROOT_PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
"""Pages beside docs/; on the site they are in the folder `project`."""

LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
BLOCK = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
LISTED = re.compile(r"^(?:## (?P<tab>.+)|- \[[^\]]*\]\((?P<page>[^)#\s]+\.md)\))")
STYLED = re.compile(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"](?:https?:)?//")
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
    "link": "href",
}
HARMLESS = {"canonical", "next", "prev", "alternate"}
"""Relations of a `link` that name a page and load nothing."""

Nav: TypeAlias = "list[str | dict[str, Nav]]"


def nav() -> Nav:
    """Return the navigation, as MkDocs wants it."""
    tabs: dict[str, Nav] = {}
    pages: Nav = []
    for line in (DOCS / "README.md").read_text("utf-8").splitlines():
        found = LISTED.match(line)
        if found is None:
            continue
        if found["tab"]:
            pages = tabs.setdefault(found["tab"], [])
        else:
            pages.append(found["page"])
            if found["page"] == "adr/README.md":
                pages.pop()
                tabs["Decisions"] = ["adr/README.md", *_decisions()]
    tabs["Project"] = [f"project/{name}" for name in ROOT_PAGES]
    return ["README.md", *({tab: pages} for tab, pages in tabs.items())]


def _decisions() -> list[str]:
    return sorted(f"adr/{page.name}" for page in (DOCS / "adr").glob("0*.md"))


def listed(part: Nav) -> list[str]:
    """Return the pages of a navigation, in its order."""
    found: list[str] = []
    for one in part:
        if isinstance(one, str):
            found.append(one)
        else:
            for below in one.values():
                found += listed(below)
    return found


def pages() -> dict[str, str]:
    """Return the text of each page by its place on the site."""
    places = {page: page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    places |= {ROOT / name: f"project/{name}" for name in ROOT_PAGES}
    return {place: _relinked(page, places) for page, place in places.items()}


def _relinked(page: Path, places: dict[Path, str]) -> str:
    """Return a page whose links lead to places on the site.

    A link to what is no part of the site, as a folder of tests, becomes its text.
    """
    folder = Path(places[page]).parent

    def led(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if ":" in target:
            return found[0]
        meant = (page.parent / target).resolve()
        if meant in places:
            place = Path(places[meant])
        elif meant.is_relative_to(DOCS):
            place = meant.relative_to(DOCS)
        elif meant == ROOT / "README.md":
            place = Path("README.md")
        else:
            return text
        return f"[{text}]({Path(os.path.relpath(place, folder)).as_posix()}{anchor})"

    parts = BLOCK.split(page.read_text("utf-8"))
    return "".join(
        part if part.startswith("```") else LINK.sub(led, part) for part in parts
    )


def gather(folder: Path) -> None:
    """Write pages, pictures and configuration into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(ICON, folder / "docs" / "images" / "icon.svg")
    for place, text in pages().items():
        (folder / "docs" / place).parent.mkdir(exist_ok=True)
        (folder / "docs" / place).write_text(text, "utf-8")
    config = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(folder / "docs"),
        "site_dir": str(ROOT / "site"),
        "nav": nav(),
    }
    (folder / "mkdocs.yml").write_text(json.dumps(config, indent=1), "utf-8")


class _Loads(HTMLParser):
    """Collects what a page loads by itself from another server."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        where = told.get(LOADS.get(tag, "")) or ""
        if tag == "link" and (told.get("rel") or "") in HARMLESS:
            return
        if re.match(r"(?:https?:)?//", where.strip(), re.IGNORECASE):
            self.found.append(where)


def foreign_loads(text: str) -> list[str]:
    """Return what an HTML page, or a style sheet, loads from another server."""
    reader = _Loads()
    reader.feed(text)
    return [*reader.found, *(found[0] for found in STYLED.finditer(text))]


def check(site: Path) -> int:
    """Name each page that loads something from elsewhere; return the exit status."""
    status = 0
    built = sorted([*site.rglob("*.html"), *site.rglob("*.css")])
    for page in built:
        for where in foreign_loads(page.read_text("utf-8")):
            print(f"{page} loads from elsewhere: {where}")
            status = 1
    if status == 0:
        print(f"{site}: {len(built)} files, nothing is loaded from elsewhere")
    return status


def main(words: list[str]) -> int:
    """Do what the words say."""
    match words:
        case ["gather", folder]:
            gather(Path(folder).resolve())
            return 0
        case ["check", folder]:
            return check(Path(folder))
        case _:
            print(__doc__, file=sys.stderr)
            return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
