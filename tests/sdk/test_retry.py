"""What is declared idempotent is repeated, each attempt at most once for a key."""

import asyncio

import pytest

from holdfast.model.errors import (
    CommandGoesOn,
    MalformedArgument,
    NotYourTurn,
    OutcomeUnknown,
)
from holdfast.model.ids import ClientId
from holdfast.sdk.retry import (
    MAX_RETRIES,
    Once,
    check_retries,
    key_of,
    with_retries,
)
from holdfast.sdk.values import CommandResult, Stop

UNKNOWN = OutcomeUnknown(ClientId("c_x"), 1)


def result(status: int | None) -> CommandResult:
    ended = Stop.ENDED if status is not None else Stop.ASKED
    return CommandResult("make", status, b"", 0.1, "/", 0, 0, 9, 1, ended, "")


def run(once: Once, key: str | None, retries: int) -> CommandResult:
    async def running() -> CommandResult:
        return await with_retries(once, key, retries)

    return asyncio.run(running())


class Shell:
    """Runs a command with the outcomes that it is given, once for each key."""

    def __init__(self, *outcomes: int | Exception | None) -> None:
        self.outcomes = [*outcomes]
        self.ran: dict[str | None, int | Exception | None] = {}
        self.asked: list[tuple[str | None, int]] = []

    async def once(self, key: str | None, attempt: int) -> CommandResult:
        self.asked.append((key, attempt))
        if key not in self.ran:
            self.ran[key] = self.outcomes.pop(0)
        outcome = self.ran[key]
        if isinstance(outcome, Exception):
            raise outcome
        return result(outcome)


def test_what_failed_is_repeated_until_it_succeeds() -> None:
    shell = Shell(1, UNKNOWN, 0, 0)

    found = run(shell.once, "k", 5)

    assert found.status == 0
    assert shell.asked == [("k", 1), ("k#2", 2), ("k#3", 3)]


def test_the_last_failure_is_what_came_of_it() -> None:
    assert (run(Shell(1, 2, 3, 0).once, "k", 2)).status == 3
    with pytest.raises(OutcomeUnknown):
        run(Shell(1, UNKNOWN).once, "k", 1)


def test_the_same_key_again_repeats_no_attempt() -> None:
    shell = Shell(1, 2)
    run(shell.once, "k", 1)

    again = run(shell.once, "k", 1)

    assert again.status == 2
    assert shell.outcomes == []


def test_without_a_key_every_attempt_has_one_of_its_own() -> None:
    shell = Shell(1, 0)

    run(shell.once, None, 1)

    (first, _), (second, _) = shell.asked
    assert first
    assert second == key_of(first, 2)


def test_without_retries_nothing_is_repeated_and_no_key_made_up() -> None:
    shell = Shell(1)

    assert (run(shell.once, None, 0)).status == 1
    assert shell.asked == [(None, 1)]


@pytest.mark.parametrize(
    "error", [NotYourTurn("a_x", 3), CommandGoesOn(0, 5, "running")]
)
def test_what_was_refused_or_goes_on_is_not_repeated(error: Exception) -> None:
    shell = Shell(error, 0)

    with pytest.raises(type(error)):
        run(shell.once, "k", 3)

    assert len(shell.asked) == 1


def test_a_command_whose_status_is_not_known_yet_is_not_repeated() -> None:
    shell = Shell(None, 0)

    assert (run(shell.once, "k", 3)).status is None


@pytest.mark.parametrize("retries", [-1, MAX_RETRIES + 1])
def test_only_what_is_declared_idempotent_is_repeated_and_not_for_ever(
    retries: int,
) -> None:
    check_retries(0, idempotent=False)
    check_retries(MAX_RETRIES, idempotent=True)
    with pytest.raises(MalformedArgument):
        check_retries(1, idempotent=False)
    with pytest.raises(MalformedArgument):
        check_retries(retries, idempotent=True)
