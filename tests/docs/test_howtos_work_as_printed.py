from pathlib import Path

import pytest
from tests.docs.printed_lines import Line, account, lines_of, script, unseen

ROOT = Path(__file__).parents[2]
TEXTS = {
    page.stem: page.read_text("utf-8")
    for folder in ("howto", "tutorial")
    for page in sorted((ROOT / "docs" / folder).glob("*.md"))
}
PAGES = {name: lines_of(text) for name, text in TEXTS.items()}
TUTORIALS = {page.stem for page in (ROOT / "docs/tutorial").glob("*.md")}
APART = {"install"}
"""Run by a scenario of its own, as it builds the package."""

RUN = [name for name, lines in PAGES.items() if lines and name not in APART]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", RUN)
def test_what_a_page_prints_works_on_a_new_account(name: str) -> None:
    with account() as somebody:
        somebody.save(TEXTS[name])
        done = somebody.run(PAGES[name])

    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    if name in TUTORIALS:
        assert unseen(TEXTS[name], done.stdout) == [], done.stdout


def test_most_pages_have_lines_to_run() -> None:
    assert len(RUN) >= 9


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([Line("true", 0)], 0),
        ([Line("false", 0), Line("true", 0)], 91),
        ([Line("(exit 75)", 75)], 0),
        ([Line("true", 75)], 91),
        ([Line("holdfast watch --nonsense", 0)], 90),
        ([Line("echo yes   # waits", 0), Line("true", 0)], 0),
        ([Line("false   # waits", 0), Line("true", 0)], 92),
    ],
)
def test_a_line_that_ends_wrongly_is_noticed(lines: list[Line], status: int) -> None:
    with account() as somebody:
        assert somebody.run(lines).returncode == status


def test_a_line_may_be_continued_and_say_how_it_ends() -> None:
    page = "x\n```sh\na \\\n  b\n\nc   # exits with 75: why\n```\n```\nd\n```\n"

    assert lines_of(page) == [Line("a   b", 0), Line("c   # exits with 75: why", 75)]
    assert script(lines_of("")) == "\n"


@pytest.mark.parametrize(
    ("shown", "printed", "missing"),
    [
        ("work (s_aaaaaaaaaaaaaaaa)", "work  (s_bbbbbbbbbbbbbbb2)", []),
        ("10:40:08  Command 2 took 3 s", "04:01:59  Command 14 took 12 s", []),
        ("one\n…\nthree", "one\ntwo\nthree", []),
        ("denied", "approved", ["denied"]),
    ],
)
def test_what_a_page_shows_has_to_be_printed(
    shown: str, printed: str, missing: list[str]
) -> None:
    page = f"```sh\nx\n```\n\n```\n{shown}\n```\n\n```toml\nnot = true\n```\n"

    assert unseen(page, printed) == missing
