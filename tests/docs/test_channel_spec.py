import re
from pathlib import Path

import pytest

from holdfast.aio.channel import HANDSHAKE
from holdfast.crypto.handshake import FILLING
from holdfast.crypto.noise import MAX_MESSAGE
from holdfast.crypto.sealing import REKEY
from holdfast.model.errors import leaves
from holdfast.wire import channel, invites, opening
from holdfast.wire.channel import RecordKind

PAGE = (Path(__file__).parents[2] / "docs/spec/channel.md").read_text("utf-8")
LIMITS = {
    "MAX_MESSAGE": MAX_MESSAGE,
    "MAX_RECORD": channel.MAX_RECORD,
    "MAX_DATA": channel.MAX_DATA,
    "PAD": channel.PAD,
    "REKEY": REKEY,
    "HANDSHAKE": int(HANDSHAKE),
    "MAX_OPENING": opening.MAX_OPENING,
    "MAX_LINK": invites.MAX_LINK,
    "MAX_RELAYS": invites.MAX_RELAYS,
}


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_is_the_one_in_force(name: str) -> None:
    assert f"| `{name}` | {LIMITS[name]} |" in PAGE


def test_no_limit_is_made_up() -> None:
    listed = set(re.findall(r"^\| `([A-Z_]+)` \| \d+ \|", PAGE, re.MULTILINE))

    assert listed == set(LIMITS)


@pytest.mark.parametrize("kind", RecordKind)
def test_every_kind_of_record_is_specified(kind: RecordKind) -> None:
    assert f"| {kind.value} | `{kind.name}` |" in PAGE


def test_every_code_is_that_of_an_error() -> None:
    section = PAGE[PAGE.index("## 10.") : PAGE.index("## 11.")]
    codes = {leaf.code for leaf in leaves()}

    listed = re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)

    assert len(listed) > 10
    assert set(listed) <= codes


def test_the_filling_of_a_join_is_the_one_in_force() -> None:
    assert f"with {FILLING} zeros" in PAGE
