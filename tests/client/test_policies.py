"""What is written down when a policy is put in force."""

import time
from pathlib import Path

import pytest

from holdfast.client import current_operator, policies
from holdfast.core.book.logbook import EntryKind
from holdfast.core.policy.applied_policy import NOTHING, Applied
from holdfast.crypto.keys import verify
from holdfast.linux.stored import host_book, places, policy_files
from holdfast.model.errors import MalformedPolicy, PolicyMoved


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        folder = tmp_path / name.lower()
        folder.mkdir(mode=0o700)
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(folder))


def applied(text: str) -> Applied:
    places.policy_file().write_text(text)
    us = current_operator.ourselves()
    return policies.apply(us, policy_files.standing())


def test_a_later_policy_is_dated_later_whatever_the_clock_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = applied("")
    long_ago = time.time_ns() - 3600 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: long_ago)

    second = applied('[default]\nagent = "ask"\n')

    assert second.at_wall_ms == first.at_wall_ms + 1
    assert policy_files.standing().applied == second


ASK = '[default]\nagent = "ask"\n'


def test_the_entry_names_both_policies_and_is_signed_by_who_applied_it() -> None:
    us = current_operator.ourselves()
    first = applied(ASK + "# the first\n")
    second = applied(ASK)

    with host_book.writing() as book:
        entry, name = book.last, book.id
    assert entry is not None
    assert entry.kind is EntryKind.APPLIED
    assert second.entry == entry.index == first.entry + 1
    fields = entry.fields
    assert (first.text, second.text) == (f"{ASK}# the first\n".encode(), ASK.encode())
    assert (fields["by"], fields["policy"]) == (us.actor.id, second.digest)
    assert fields["before"] == first.digest
    said = policies.statement(name, second.digest, first.digest)
    assert (
        said == f"holdfast apply 1\n{name}\n{second.digest}\n{first.digest}\n".encode()
    )
    key, signature = (bytes.fromhex(str(fields[one])) for one in ("key", "signature"))
    assert key == us.public_key
    assert verify(key, said, signature)


def test_a_policy_that_is_not_valid_is_refused_and_that_is_on_record() -> None:
    before = applied(ASK)

    with pytest.raises(MalformedPolicy) as refused:
        applied("\n".join(f"[x{number}]" for number in range(7)))

    assert refused.value.facts["count"] == 7
    assert str(refused.value).count("; ") == 4
    assert policy_files.standing().applied == before
    assert "gate apply" in Path(host_book.host_folder(), "book.log").read_text()


def test_what_was_changed_after_it_was_shown_is_not_put_in_force() -> None:
    us = current_operator.ourselves()
    applied("")
    places.policy_file().write_text(ASK)
    shown = policy_files.standing()
    places.policy_file().write_text(ASK + "# more\n")

    with pytest.raises(PolicyMoved) as refused:
        policies.apply(us, shown)
    assert "the file" in str(refused.value)

    places.policy_file().write_text(ASK)
    meanwhile = policies.apply(us, shown)
    with pytest.raises(PolicyMoved) as refused:
        policies.apply(us, shown)
    assert "another policy" in str(refused.value)
    assert policy_files.standing().applied == meanwhile


def test_people_are_told_that_a_changed_policy_waits() -> None:
    applied("")
    assert policies.troubles() == []

    places.policy_file().write_text(ASK)

    assert policies.troubles() == [policy_files.WAITS]


def test_people_are_told_that_the_policy_cannot_be_looked_at() -> None:
    places.policy_file().parent.chmod(0o777)

    (told,) = policies.troubles()

    assert told.startswith("the policy cannot be looked at: ")


def test_the_first_policy_of_a_host_may_be_no_file_and_opens_the_book() -> None:
    us = current_operator.ourselves()
    for file in Path(host_book.book_path()).parent.glob("book*"):
        file.unlink()
    before = time.time_ns() // 1_000_000

    first = policies.apply(us, policy_files.standing())

    with host_book.writing() as book:
        assert book.last is not None
        assert (book.last.kind, book.last.index) == (EntryKind.APPLIED, 1)
        assert book.last.fields["before"] == NOTHING.digest
    assert (first.text, first.by, first.entry) == (b"", us.actor.id, 1)
    assert before <= first.at_wall_ms <= time.time_ns() // 1_000_000
