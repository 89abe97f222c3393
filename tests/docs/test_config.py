import re
import tomllib
from pathlib import Path

from holdfast.cli.config_text import MEANING, values
from holdfast.model.config_file import read_config
from holdfast.model.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs/reference/config.md").read_text("utf-8")
ROW = re.compile(r"^\| `([a-z.-]+)` \| `(.*)` \| (.*) \|$", re.MULTILINE)
BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_page_lists_every_setting_with_its_default() -> None:
    defaults = values(Settings())

    assert ROW.findall(PAGE) == [
        (name, defaults[name], what) for name, what in MEANING.items()
    ]


def test_the_example_of_the_page_has_no_mistake_and_changes_something() -> None:
    for block in BLOCK.findall(PAGE):
        settings, problems = read_config(block.encode())

        assert not problems
        assert vars(settings) != vars(Settings())
        assert tomllib.loads(block)
