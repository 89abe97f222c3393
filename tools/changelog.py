"""Gather the fragments in changes/ into CHANGELOG.md, and remove them.

They join what is under "Unreleased" already. With --release VERSION that section gets
the version and today's date for its title, and an empty "Unreleased" stands above it.
"""

import argparse
import datetime as dt
import re
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

KINDS = ("security", "removed", "deprecated", "added", "changed", "fixed")
"""In the order in which the person who upgrades should read them."""

UNRELEASED = "## Unreleased"

_SECTION = re.compile(rf"^{UNRELEASED}\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_VERSION = re.compile(r"\d+\.\d+\.\d+")

Changes = dict[str, list[str]]
"""What is new, by kind."""


class Wrong(Exception):
    """The files are not what they should be, and how."""


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Rewrite the changelog and remove the fragments, or say what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", metavar="VERSION", default="")
    release = parser.parse_args(arguments).release
    changelog = root / "CHANGELOG.md"
    try:
        fragments = read_fragments(root / "changes")
        title = _title(release)
        text = gathered(changelog.read_text(), fragments, title)
    except Wrong as error:
        print(f"changelog: {error}", file=sys.stderr)
        return 1
    changelog.write_text(text)
    for path in fragments:
        path.unlink()
    print(f"{len(fragments)} fragments are in {changelog.name} now")
    return 0


def read_fragments(folder: Path) -> dict[Path, str]:
    """Return the text of every fragment, in the order of their names."""
    found = {path: path.read_text() for path in sorted(folder.iterdir())}
    for path, text in found.items():
        if _kind(path) not in KINDS:
            raise Wrong(f"{path.name} is not NAME.KIND.md, with one of {KINDS}")
        if not text.strip():
            raise Wrong(f"{path.name} says nothing")
    return found


def gathered(changelog: str, fragments: Mapping[Path, str], title: str) -> str:
    """Return a changelog with the fragments in the section of what is unreleased."""
    section = _SECTION.search(changelog)
    if section is None:
        raise Wrong(f"there is no section {UNRELEASED!r}")
    changes = _listed(section[1])
    for path, text in fragments.items():
        changes.setdefault(_kind(path), []).append(" ".join(text.split()))
    above = "" if title == UNRELEASED else f"{UNRELEASED}\n\n"
    written = f"{above}{title}\n\n{_written(changes)}"
    after = changelog[section.end() :]
    gap = "\n" if after else ""
    return changelog[: section.start()] + written + gap + after


def _listed(section: str) -> Changes:
    """Read what a section says already."""
    changes: Changes = {}
    kind = ""
    for line in filter(None, section.splitlines()):
        if line.startswith("### "):
            kind = line.removeprefix("### ").lower()
        elif line.startswith("- ") and kind in KINDS:
            changes.setdefault(kind, []).append(line.removeprefix("- "))
        else:
            raise Wrong(f"{line!r} is neither a kind of change nor an item")
    return changes


def _written(changes: Changes) -> str:
    return "\n".join(
        f"### {kind.capitalize()}\n\n" + "".join(f"- {one}\n" for one in changes[kind])
        for kind in KINDS
        if kind in changes
    )


def _title(release: str) -> str:
    if not release:
        return UNRELEASED
    if not _VERSION.fullmatch(release):
        raise Wrong(f"{release!r} is no version, such as 1.2.3")
    return f"## {release}, {dt.datetime.now(dt.UTC).date()}"


def _kind(path: Path) -> str:
    _, _, kind = path.name.removesuffix(".md").rpartition(".")
    return kind if path.suffix == ".md" else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
