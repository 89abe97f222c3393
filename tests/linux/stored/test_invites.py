import threading
from pathlib import Path

import pytest

from holdfast.linux.stored import invites, places
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import (
    InviteExpired,
    InviteUnknown,
    InviteUsed,
    MalformedName,
)
from holdfast.model.ids import SessionId

HERE = SessionId("s_aaaaaaaaaaaaaaaa")
RIGHTS = Envelope(frozenset({Right.OBSERVE, Right.INPUT}), HERE, 500.0)


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


def made(expires_wall: float = 100.0) -> invites.Invite:
    return invites.make("anna", ActorKind.HUMAN, RIGHTS, expires_wall)


def test_what_is_made_is_found_whole() -> None:
    invite = made()

    assert invites.find(invite.id) == invite
    assert invites.pending(0.0) == [invite]
    assert len(invite.secret) == invites.SECRET


def test_t47_nobody_else_can_read_the_secret_and_it_is_not_shown() -> None:
    invite = made()

    (path,) = places.invites_dir().iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert invite.secret.hex() not in repr(invite)
    assert str(invite.secret) not in repr(invite)


def test_an_invitation_is_used_once_and_its_user_is_answered_again() -> None:
    invite = made()

    first = invites.use(invite.id, "a_one", 50.0)

    assert (first.used_by, first.envelope) == ("a_one", RIGHTS)
    assert invites.use(invite.id, "a_one", 51.0) == first
    with pytest.raises(InviteUsed):
        invites.use(invite.id, "a_two", 51.0)


def test_a_late_one_is_refused_even_to_its_user() -> None:
    invite = made()

    with pytest.raises(InviteExpired):
        invites.use(invite.id, "a_one", 100.0)
    assert invites.pending(100.0) == []


def test_one_that_is_unknown_or_withdrawn_is_refused() -> None:
    invite = made()
    assert invites.withdraw(invite.id)

    for wanted in (invite.id, bytes(invites.ID)):
        with pytest.raises(InviteUnknown):
            invites.use(wanted, "a_one", 0.0)
    assert not invites.withdraw(invite.id)


def test_of_many_who_come_at_once_one_is_let_in() -> None:
    invite = made()
    outcomes: list[str] = []
    together = threading.Barrier(8)

    def come(actor: str) -> None:
        together.wait()
        try:
            outcomes.append(invites.use(invite.id, actor, 0.0).used_by)
        except InviteUsed:
            outcomes.append("")

    guests = [threading.Thread(target=come, args=(f"a_{n}",)) for n in range(8)]
    for guest in guests:
        guest.start()
    for guest in guests:
        guest.join()

    assert len([one for one in outcomes if one]) == 1


def test_one_whose_user_was_never_written_down_is_spent() -> None:
    invite = made()
    (path,) = places.invites_dir().iterdir()
    path.rename(path.with_suffix(".used"))

    with pytest.raises(InviteUsed):
        invites.use(invite.id, "a_one", 0.0)


def test_what_has_expired_is_swept_away_and_nothing_else() -> None:
    old, young = made(10.0), made(100.0)
    invites.use(old.id, "a_one", 0.0)

    invites.sweep(invites.KEPT + 50.0)

    assert invites.find(old.id) is None
    assert invites.known() == [young]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"name": 1}', "\0"])
def test_a_damaged_file_is_no_invitation(text: str) -> None:
    invite = made()
    (path,) = places.invites_dir().iterdir()
    path.write_text(text)

    assert invites.find(invite.id) is None
    assert invites.pending(0.0) == []


def test_a_name_that_cannot_be_one_invites_nobody() -> None:
    with pytest.raises(MalformedName):
        invites.make("../x", ActorKind.HUMAN, RIGHTS, 1.0)
