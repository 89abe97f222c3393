"""Deliberately wrong implementations: a real holder behind a proxy that breaks one
clause of the wire. What is wrong with each is the sentence of its class.
"""

import hashlib
import hmac

from tests.scenarios.frame_proxy import Fields, Frame, Wrong

from holdfast.conformance.kinds import KINDS
from holdfast.conformance.packed_form import packed
from holdfast.conformance.subject import new_client


class WaitsForPayloads(Wrong):
    """It reads a frame whole before it looks at its header."""


class AnswersBeforeHello(Wrong):
    """It answers a PING before HELLO."""

    def answers(self, name: str, fields: Fields) -> list[Frame]:
        return [("PONG", fields)] if name == "PING" else []


class SpeaksAnotherVersion(Wrong):
    """It chooses a version that was not offered."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, {**fields, "version": 9} if name == "WELCOME" else fields)]


class SpeaksEveryVersion(Wrong):
    """It welcomes a client whose versions it does not speak."""

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, {**fields, "versions": [1]} if name == "HELLO" else fields)]


class TakesSloppyForms(Wrong):
    """It takes messages that are written in another way."""

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, packed({key: fields.get(key, 0) for key in KINDS[name].fields}))]


class WritesLongForms(Wrong):
    """It writes a number in more bytes than it takes."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if name != "PONG" or fields["number"] != 0:
            return [(name, fields)]
        return [(name, b"\x81" + packed("number") + b"\xcc\x00")]


class CountsPongsWrong(Wrong):
    """It answers PING with another number."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, {"number": 1} if name == "PONG" else fields)]


class IgnoresItsOwnKinds(Wrong):
    """It ignores a message that only it may send."""

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        return [] if name == "WELCOME" else [(name, fields)]


class RepeatsItsNonce(Wrong):
    """It gives every link the same nonce."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, {"nonce": bytes(32)} if name == "CHALLENGE" else fields)]


class ServesStrangers(Wrong):
    """It tells who is there before anybody has proven anything."""

    def answers(self, name: str, fields: Fields) -> list[Frame]:  # noqa: ARG002
        lists: Fields = {"present": [], "waiting": [], "pending": [], "rights": []}
        told = {**lists, "holder": "", "epoch": 1, "frozen": False}
        order = KINDS["PRESENCE"].fields
        answer: Frame = ("PRESENCE", {key: told[key] for key in order})
        return [answer] if name == "WHO" else []


class TakesEveryProof(Wrong):
    """It takes anybody's word for who they are."""

    nonce = b""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if name == "CHALLENGE":
            self.nonce = fields["nonce"]
        return [(name, fields)]

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        if name != "IDENTIFY":
            return [(name, fields)]
        said = f"holdfast local 1\n{self.subject.session}\n".encode() + self.nonce
        proof = hmac.digest(self.subject.first.token, said, hashlib.sha256)
        return [(name, {**fields, "proof": proof})]


class AttachesToAnything(Wrong):
    """It attaches a client to another session than it asked for."""

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        if name == "ATTACH":
            fields = {**fields, "session": self.subject.session}
        return [(name, fields)]


class LetsObserversType(Wrong):
    """It takes the inputs of a client that only observes."""

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, {**fields, "mode": "operate"} if name == "ATTACH" else fields)]


class HidesGaps(Wrong):
    """It does not say which bytes are gone."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        return [] if name == "GAP" else [(name, fields)]


class MisplacesGaps(Wrong):
    """It says that fewer bytes are gone than are."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if name == "GAP":
            fields = {**fields, "start": fields["end"] - 1}
        return [(name, fields)]


class LosesOutput(Wrong):
    """It leaves out a piece of the stream."""

    pieces = 0

    def back(self, name: str, fields: Fields) -> list[Frame]:
        self.pieces += name == "OUTPUT"
        return [] if name == "OUTPUT" and self.pieces == 2 else [(name, fields)]


class RepeatsOutput(Wrong):
    """It sends every piece of the stream twice."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, fields)] * (2 if name == "OUTPUT" else 1)


class KeepsOldLives(Wrong):
    """It goes on from an offset of another life."""

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, {**fields, "incarnation": None} if name == "ATTACH" else fields)]


class AnswersTwice(Wrong):
    """It answers a repeated input with another index."""

    seen: dict[tuple[str, int], int]

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if name == "ACKNOWLEDGE":
            known = self.__dict__.setdefault("seen", {})
            key = (fields["client"], fields["sequence"])
            known[key] = known.get(key, -1) + 1
            fields = {**fields, "index": fields["index"] + known[key]}
        return [(name, fields)]


class AppliesRepeats(Wrong):
    """It applies an input again that was sent again."""

    def __init__(self) -> None:
        self._known: set[tuple[str, int]] = set()
        self._aliases: dict[str, tuple[str, int]] = {}
        self._indexes: dict[tuple[str, int], int] = {}

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        if name == "SUBMIT":
            key = (fields["client"], fields["sequence"])
            if key in self._known:
                alias = new_client()
                self._aliases[alias] = key
                fields = {**fields, "client": alias, "sequence": 1}
            self._known.add(key)
        return [(name, fields)]

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if fields.get("client") in self._aliases:
            client, sequence = self._aliases[fields["client"]]
            fields = {**fields, "client": client, "sequence": sequence}
        if name == "ACKNOWLEDGE":
            key = (fields["client"], fields["sequence"])
            index = self._indexes.setdefault(key, fields["index"])
            fields = {**fields, "index": index}
        return [(name, fields)]


class ForgetsWithTheLink(Wrong):
    """It knows what became of an input only on the link where it came."""

    def __init__(self) -> None:
        self._ours: dict[str, str] = {}

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        if name in ("SUBMIT", "INQUIRE", "ATTACH"):
            alias = self._ours.setdefault(fields["client"], new_client())
            fields = {**fields, "client": alias}
            if name == "SUBMIT":
                fields["sequence"] = self._next()
        return [(name, fields)]

    _count = 0

    def _next(self) -> int:
        self._count += 1
        return self._count

    def back(self, name: str, fields: Fields) -> list[Frame]:
        theirs = {alias: client for client, alias in self._ours.items()}
        if fields.get("client") in theirs:
            fields = {**fields, "client": theirs[fields["client"]]}
        return [(name, fields)]


class TakesAnyLife(Wrong):
    """It applies inputs that were meant for another life."""

    life = 1

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if name == "ATTACHED":
            self.life = fields["incarnation"]
        return [(name, fields)]

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        if name == "SUBMIT":
            fields = {**fields, "incarnation": self.life}
        return [(name, fields)]


class IgnoresEpochs(Wrong):
    """It applies inputs whatever epoch they were made under."""

    epoch = 0

    def back(self, name: str, fields: Fields) -> list[Frame]:
        self.epoch = fields.get("epoch", self.epoch)
        return [(name, fields)]

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, {**fields, "epoch": self.epoch} if name == "SUBMIT" else fields)]


class KeepsTheEpoch(Wrong):
    """It tells everybody the same epoch for ever."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        return [(name, {**fields, "epoch": 1} if "epoch" in fields else fields)]


class TakesGaps(Wrong):
    """It applies an input after a gap in its client's count."""

    def __init__(self) -> None:
        self._given: list[int] = []

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        if name == "SUBMIT":
            self._given.append(fields["sequence"])
            fields = {**fields, "sequence": len(self._given)}
        return [(name, fields)]

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if name == "ACKNOWLEDGE":
            given = self._given[fields["sequence"] - 1]
            fields = {**fields, "sequence": given}
        return [(name, fields)]


class AcknowledgesRefused(Wrong):
    """It acknowledges what it has refused."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if name != "REFUSE" or not fields["client"]:
            return [(name, fields)]
        told = {key: fields[key] for key in ("client", "sequence")}
        return [("ACKNOWLEDGE", {**told, "index": 1, "receipt": None})]


class PassesTheTurnToAnybody(Wrong):
    """It lets an operator seize who has no right to."""

    def back(self, name: str, fields: Fields) -> list[Frame]:
        if name != "REFUSE" or fields["refused"] != KINDS["SEIZE"].number:
            return [(name, fields)]
        told = {"former": "", "holder": "", "epoch": 1000, "reason": "seized"}
        none = {"dropped_inputs": 0, "dropped_bytes": 0}
        return [("TURN_PASSED", {**told, **none})]


class AppliesInAnotherOrder(Wrong):
    """It prints the second half of a flood of inputs before the first."""

    def __init__(self) -> None:
        self._held: list[Fields] = []
        self._passed: dict[tuple[str, int], bytes] = {}

    def toward(self, name: str, fields: Fields) -> list[Frame]:
        if name != "SUBMIT" or len(self._passed) not in (4, 5):
            if name == "SUBMIT":
                self._passed[fields["client"], fields["sequence"]] = b""
            return [(name, fields)]
        self._passed[fields["client"], fields["sequence"]] = b""
        self._held.append(fields)
        if len(self._held) == 1:
            return []
        first, second = self._held
        swapped = {**first, "payload": second["payload"]}
        return [(name, swapped), (name, {**second, "payload": first["payload"]})]
