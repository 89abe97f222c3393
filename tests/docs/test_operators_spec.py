import re
from pathlib import Path

from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Right, default_rights

PAGE = (Path(__file__).parents[2] / "docs/spec/operators.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (all|`[^|]+`) \|$", PAGE, re.MULTILINE)


def test_the_page_says_what_each_kind_may_do() -> None:
    said = {
        kind: set(Right) if rights == "all" else set(re.findall(r"`(\w+)`", rights))
        for kind, rights in ROWS
    }

    assert said == {
        kind.value: set(default_rights(kind, began_it=False)) for kind in ActorKind
    }
