import re
from pathlib import Path

from holdfast.host.host_requests import RIGHTS
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Right, default_rights
from holdfast.model.session_requests import KINDS

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


def test_t70_the_page_has_every_request_with_what_it_needs() -> None:
    table = re.findall(
        r"^\| `(\w+)` \| ([^|]+) \| (one|every|the) ", PAGE, re.MULTILINE
    )
    said = {do: (needs.strip("`"), about) for do, needs, about in table}

    assert said.pop("open") == ("any right", "one")
    for invited in ("terms", "join"):
        assert said.pop(invited) == ("an invitation", "the")
    for moved in ("offer", "parcel", "commit", "drop_move"):
        assert said.pop(moved) == ("move`, `create", "the")
    assert said == {
        do: ("to be known", "the") if right is None else (right.value, "one")
        for do, kind in KINDS.items()
        if kind in RIGHTS
        for right in [RIGHTS[kind]]
    }
