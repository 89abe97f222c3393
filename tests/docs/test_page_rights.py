"""The page has words for every right that there is."""

import re
from pathlib import Path

from holdfast.model.envelopes import Right

WORDS = Path(__file__).parents[2] / "web/src/app/words.ts"


def test_the_page_says_what_each_right_allows() -> None:
    acts = re.search(r"const ACTS.*?\];", WORDS.read_text("utf-8"), re.DOTALL)

    assert acts is not None
    assert set(re.findall(r'\["([a-z]+)", "', acts[0])) == {*Right}
