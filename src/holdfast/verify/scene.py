"""Where an injection puts what it has seen."""

from holdfast.verify.account import Account
from holdfast.verify.finding import Check, Evidence, Outcome
from holdfast.verify.processes import Process, process


class Scene:
    """One account, and the checks that were made in it."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.checks: list[Check] = []

    def check(self, what: str, *, holds: bool, **evidence: object) -> None:
        """Note whether something is as promised, with what was seen of it."""
        outcome = Outcome.HOLDS if holds else Outcome.BROKEN
        self.checks.append(Check(what, outcome, "", _plain(evidence)))

    def cannot(self, what: str, why: str) -> None:
        """Note that something cannot be checked on this machine."""
        self.checks.append(Check(what, Outcome.UNAVAILABLE, why))

    def broke_off(self, why: str) -> None:
        """Note that the injection did not come to its end."""
        self.checks.append(Check("the injection ends", Outcome.BROKEN, why))

    def same(self, what: str, leader: Process, **evidence: object) -> None:
        """Note whether a process is still the one that it was."""
        now = process(leader.pid)
        self.check(
            what,
            holds=now == leader,
            pid=leader.pid,
            started=leader.started,
            now=str(now) if now != leader else "the same",
            **evidence,
        )


def _plain(evidence: dict[str, object]) -> Evidence:
    kinds = (str, int, float, bool, type(None))
    return {
        name: value if isinstance(value, kinds) else str(value)
        for name, value in evidence.items()
    }
