import re
from pathlib import Path

import pytest
from tests.scenarios.support import apply_policy

from holdfast.client import current_operator, own_files
from holdfast.client.current_operator import enrol
from holdfast.core.autonomy.ladder import Step
from holdfast.core.book import host_book as kinds
from holdfast.core.book.logbook import Entry, EntryKind, read_entries
from holdfast.crypto.keys import SigningKey, verify
from holdfast.linux.stored import host_book, invites, ladder_steps, operators
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import session_id
from holdfast.model.verdicts import Verdict
from holdfast.wire.lines import Value  # noqa: TC001  # an annotation people read

PAGE = (Path(__file__).parents[2] / "docs/spec/logbook.md").read_text("utf-8")
SECTION = PAGE.split("\n## 14. The book of a host")[1]
ROW = re.compile(r"^\| `([a-z]+)` \|([^|]*)\| [^|]+ \|$", re.MULTILINE)
LISTED = {kind: re.findall(r"`(\w+)`", fields) for kind, fields in ROW.findall(SECTION)}
FIXED = 7


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """Return the book of a host to which everything has happened once."""
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    apply_policy("")
    apply_policy('[default]\nagent = "allow"\n')
    anna = enrol("anna", ActorKind.HUMAN)
    new = SigningKey.from_seed(b"n" * 32)
    operators.rotate(anna, new.public, b"said", b"n" * 32)
    promised = Envelope(frozenset({Right.OBSERVE}))
    made = [invites.make("x", ActorKind.AGENT, promised, 5.0) for _ in range(3)]
    invites.use(made[0].id, "a_b", 1.0)
    terms = operators.Terms(made[0].id.hex(), promised)
    guest = SigningKey.from_seed(b"g" * 32).public
    operators.enrol("bot", ActorKind.AGENT, guest, None, b"t", terms)
    invites.withdraw(made[1].id)
    invites.sweep(5.0 + invites.KEPT)
    operators.forget("bot")
    tampered = {"what": "policy", "why": "it is not right"}
    host_book.record(EntryKind.TAMPERED, tampered)
    own_files.record(session_id(bytes(10)), "a_b", (), forced=False)
    step = Step("a_b", "/usr/bin/ls", Verdict.ASK, Verdict.PREVIEW, "35 of 35")
    ladder_steps.make(step, current_operator.ourselves())
    came: dict[str, Value] = {"of": "s_x", "from": "h_x", "life": 2, "by": "a_b"}
    host_book.record(EntryKind.ARRIVED, came)
    went: dict[str, Value] = {"of": "s_x", "to": "h_x", "life": 2, "by": "a_b"}
    host_book.record(EntryKind.DEPARTED, went)
    lines = Path(host_book.book_path()).read_bytes().splitlines()
    with host_book.writing() as book:
        return [*read_entries(lines, book.id)]


def test_the_page_lists_the_kinds_of_a_host_in_their_order() -> None:
    assert list(LISTED) == [kind.value for kind in kinds.KINDS]


def test_entries_have_the_members_that_the_page_lists_in_its_order(
    entries: list[Entry],
) -> None:
    seen = {}
    for entry in entries:
        members = list(entry.fields)[FIXED:]
        assert members[-2:] == ["policy", "seal"]
        seen[entry.kind.value] = members[:-2]

    del seen["opened"]
    assert seen == LISTED


def test_an_operator_signs_what_it_applies_as_the_page_says(
    entries: list[Entry],
) -> None:
    applied = [entry.fields for entry in entries if entry.kind is EntryKind.APPLIED]

    for one in applied:
        parts = (one["session"], one["policy"], one["before"])
        said = "holdfast apply 1\n" + "".join(f"{part}\n" for part in parts)
        key, signature = (
            bytes.fromhex(str(one[name])) for name in ("key", "signature")
        )
        assert verify(key, said.encode(), signature)
    assert applied[1]["before"] == applied[0]["policy"]
