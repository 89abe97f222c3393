"""The packets between a holder and the judge.

One socket, SOCK_SEQPACKET, so a packet is never split or merged; one packet is one
JSON object. A holder may ask several questions at once; answers come as they are
found, each with the ticket of its question.

    ask      {"ticket", "question", "plugins": [name], "vouched": digest of the
             plug-ins' folder, "webhook": null | {"url", "timeout"}, "timeout":
             seconds for all of them together}
    answer   {"ticket", "verdict": "allow" | "deny" | "ask", "rule", "why"}
             {"ticket", "verdict": null}       nobody had an opinion
             {"ticket", "failed": why}         completes "the policy …"

`question` is the document of docs/spec/policy.md, section 6.
"""

import hashlib
import json
from dataclasses import dataclass, field

from holdfast.core.policy.policy import Judgement
from holdfast.core.policy.rules import Webhook
from holdfast.model.errors import MalformedMessage
from holdfast.model.text import printable
from holdfast.model.verdicts import verdict_from

MAX_PACKET = 160 * 1024
"""Bytes in a packet: the largest input in base64, and what belongs to it.

A socket of ours takes 200 KiB at once.
"""

MAX_TIMEOUT = 1.75
"""Seconds for one question: the gate waits 2, and must hear why it is denied."""

MAX_TEXT = 200
"""Characters of a rule's name or reason that are passed on."""


NOTHING_VOUCHED = hashlib.sha256().hexdigest()
"""The digest of a plug-ins' folder that has nothing in it, or is not there."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question, and whom to put it to."""

    ticket: int
    question: dict[str, object]
    plugins: tuple[str, ...] = ()
    webhook: Webhook | None = None
    timeout: float = field(default=MAX_TIMEOUT)
    vouched: str = NOTHING_VOUCHED
    """What the plug-ins' folder was like when the policy was applied."""

    @property
    def whom(self) -> str:
        """Who is asked, for people."""
        names = [f"plug-in {name}" for name in self.plugins]
        return ", ".join([*names, *(["webhook"] if self.webhook is not None else [])])

    def to_bytes(self) -> bytes:
        """Write it down."""
        hook = self.webhook
        return _bytes(
            {
                "ticket": self.ticket,
                "question": self.question,
                "plugins": self.plugins,
                "vouched": self.vouched,
                "webhook": hook and {"url": hook.url, "timeout": hook.timeout},
                "timeout": self.timeout,
            }
        )

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Ask":
        """Read it.

        Raises:
            PeerError: It is no question.

        """
        match _object(raw):
            case {
                "ticket": int(ticket),
                "question": dict(question),
                "plugins": list(plugins),
                "vouched": str(vouched),
                "webhook": hook,
                "timeout": float() | int() as timeout,
            } if all(isinstance(name, str) for name in plugins):
                seconds = min(max(timeout, 0.0), MAX_TIMEOUT)
                names = tuple(plugins)
                return cls(ticket, question, names, _webhook(hook), seconds, vouched)
            case _:
                raise MalformedMessage("question", "a member is missing or invalid")


@dataclass(frozen=True, slots=True)
class Answer:
    """What plug-ins and webhook said: a judgement, no opinion, or a failure."""

    ticket: int
    judgement: Judgement | None = None
    failed: str = ""

    def to_bytes(self) -> bytes:
        """Write it down."""
        said = self.judgement
        whole: dict[str, object] = {"ticket": self.ticket}
        if self.failed:
            whole["failed"] = printable(self.failed, MAX_TEXT)
        elif said is None:
            whole["verdict"] = None
        else:
            whole["verdict"] = said.verdict.value
            whole["rule"] = printable(said.rule, MAX_TEXT)
            whole["why"] = printable(said.why, MAX_TEXT)
        return _bytes(whole)

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Answer":
        """Read it.

        Raises:
            PeerError: It is no answer.

        """
        match _object(raw):
            case {"ticket": int(ticket), "failed": str(why)}:
                return cls(ticket, failed=printable(why, MAX_TEXT) or "failed")
            case {"ticket": int(ticket), "verdict": None}:
                return cls(ticket)
            case {
                "ticket": int(ticket),
                "verdict": word,
                "rule": str(rule),
                "why": str(why),
            } if (verdict := verdict_from(word)) is not None:
                shown = printable(rule, MAX_TEXT), printable(why, MAX_TEXT)
                return cls(ticket, Judgement(verdict, *shown))
            case _:
                raise MalformedMessage("answer", "a member is missing or invalid")


def _webhook(given: object) -> Webhook | None:
    match given:
        case None:
            return None
        case {"url": str(url), "timeout": float() | int() as timeout}:
            return Webhook(url, timeout)
        case _:
            raise MalformedMessage("question", "its webhook is invalid")


def _bytes(whole: dict[str, object]) -> bytes:
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def _object(raw: bytes) -> object:
    try:
        return json.loads(raw.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        raise MalformedMessage("packet", "it is not JSON") from None
