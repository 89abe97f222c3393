"""An operator at its keyboard: a client of the subject that counts its inputs."""

from holdfast.conformance.link import Link, Message
from holdfast.conformance.subject import Operator, Subject, new_client, new_line
from holdfast.conformance.verdict import Broken, NotTried

PRINTED = 2
"""How often a line is printed that `cat` reads: by the terminal, and by `cat`."""

BY_POLICY = ("denied-by-policy", "policy-unavailable", "approval-pending")


class Typist:
    """A client that is attached and may act."""

    def __init__(
        self, subject: Subject, operator: Operator | None = None, client: str = ""
    ) -> None:
        self.operator = operator or subject.first
        self.client = client or new_client()
        self.link, self.attached = subject.attached(self.operator, client=self.client)
        self.incarnation: int = self.attached["incarnation"]
        self.last = 0
        """The last sequence that was used."""

    def submit(
        self,
        payload: bytes,
        *,
        kind: str = "keys",
        sequence: int | None = None,
        epoch: int | None = None,
        incarnation: int | None = None,
    ) -> int:
        """Send an input, and return its number."""
        if sequence is None:
            self.last = sequence = self.last + 1
        self.link.send(
            "SUBMIT",
            client=self.client,
            sequence=sequence,
            kind=kind,
            incarnation=self.incarnation if incarnation is None else incarnation,
            epoch=self.link.epoch if epoch is None else epoch,
            payload=payload,
            seen=None,
            waits=True,
        )
        return sequence

    def answer(self, sequence: int, link: Link | None = None) -> Message:
        """Return what is said about an input."""

        def is_it(found: Message) -> bool:
            return (found["client"], found["sequence"]) == (self.client, sequence)

        link = link or self.link
        found = link.wait("ACKNOWLEDGE", "REFUSE", "REPORT", where=is_it)
        if found.name == "REFUSE" and found["code"] in BY_POLICY:
            raise NotTried(f"a policy is in the way: {found['text']}")
        if found.name == "REFUSE" and found["code"] == "too-many-clients":
            raise NotTried("it remembers no more clients: a new session would")
        return found

    def type(self, payload: bytes) -> int:
        """Send an input that has to be applied, and return its index.

        Raises:
            Broken: It was not applied.

        """
        found = self.answer(self.submit(payload))
        if found.name != "ACKNOWLEDGE":
            why = found.fields.get("code") or found.fields.get("outcome")
            raise Broken(f"an input of {self.operator.name} was not applied: {why}")
        return int(found["index"])

    def refused(self, sequence: int, *codes: str) -> Message:
        """Return the refusal of an input.

        Raises:
            Broken: It was not refused, or with another code.

        """
        found = self.answer(sequence)
        if found.name != "REFUSE":
            raise Broken(f"it was answered with {found.name} and not refused")
        if codes and found["code"] not in codes:
            raise Broken(f"it was refused with {found['code']}, not {codes[0]}")
        return found

    def settle(self) -> None:
        """Wait until everything that was typed before has been printed."""
        line = new_line()
        self.type(line + b"\n")
        self.link.wait_for_text(line, PRINTED)

    def take_turn(self) -> None:
        """Have the turn, whoever has it."""
        if self.link.holder != self.operator.actor:
            self.link.send("SEIZE", halt="none")
            self.wait_for_turn(self.operator.actor)

    def free_turn(self) -> None:
        """Have the turn be free."""
        if self.link.holder:
            self.take_turn()
            self.link.send("DROP")
            self.wait_for_turn("")

    def wait_for_turn(self, holder: str) -> Message | None:
        """Wait until this link was told that somebody, or nobody, has the turn."""
        if self.link.holder == holder:
            return None
        return self.link.wait("TURN_PASSED", where=lambda one: one["holder"] == holder)
