import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/glossary.md").read_text("utf-8")
ROW = re.compile(r"^\| ([a-z][a-z, ]*) \| [^|]+ \|([^|]*)\|$", re.MULTILINE)
ROWS = [(word, re.findall(r"`(\w+)`", code)) for word, code in ROW.findall(PAGE)]
WORDS = [word for word, _ in ROWS if word != "word"]
SECTIONS = PAGE.split("\n## ")[1:]
NAMED = {name for _, names in ROWS for name in names}


def classes(folder: str) -> list[ast.ClassDef]:
    return [
        node
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]


def is_machine(node: ast.ClassDef) -> bool:
    is_value = bool(node.decorator_list or node.bases)
    return not (is_value or node.name.startswith("_"))


MACHINES = [node.name for node in classes("src/holdfast/core") if is_machine(node)]
KNOWN = {node.name for folder in ("src", "tools") for node in classes(folder)}


def test_the_machines_of_the_core_are_found() -> None:
    assert {"Turn", "Gate", "Serializer", "Logbook", "Intake", "Viewer"} <= {*MACHINES}


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_of_the_core_is_in_the_glossary(name: str) -> None:
    assert name in NAMED


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_class_in_the_glossary_exists(name: str) -> None:
    assert name in KNOWN


def test_a_word_stands_once() -> None:
    assert len(set(WORDS)) == len(WORDS)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda text: text.split("\n")[0])
def test_the_words_of_a_section_are_in_alphabetical_order(section: str) -> None:
    words = [word for word, _ in ROW.findall(section) if word != "word"]

    assert words == sorted(words)
