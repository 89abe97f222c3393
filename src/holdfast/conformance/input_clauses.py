"""Section 4.4: inputs, each applied once, in order, and answered."""

from holdfast.conformance.clauses import clause
from holdfast.conformance.kinds import MAX_INPUT
from holdfast.conformance.link import Message
from holdfast.conformance.subject import Subject, new_line
from holdfast.conformance.typist import PRINTED, Typist
from holdfast.conformance.verdict import Broken

MANY = 20


def _writer(subject: Subject) -> Typist:
    typist = Typist(subject)
    typist.take_turn()
    return typist


def _count(typist: Typist, line: bytes, wanted: int, what: str) -> None:
    """See how often a line was printed, once everything before now has been."""
    typist.settle()
    found = typist.link.output.count(line)
    if found != wanted:
        raise Broken(f"{what} was printed {found} times, not {wanted}")


@clause("4.4")
def acknowledged(subject: Subject) -> str:
    """An input that was applied is acknowledged with its index."""
    typist, line = _writer(subject), new_line()
    index = typist.type(line + b"\n")
    _count(typist, line, PRINTED, "a line that was typed once")
    return f"index {index}"


@clause("4.4")
def exactly_once(subject: Subject) -> str:
    """The same input again is answered the same, and not applied again."""
    typist, line = _writer(subject), new_line()
    index = typist.type(line + b"\n")
    for _ in range(3):
        typist.submit(line + b"\n", sequence=typist.last)
        _same(typist.answer(typist.last), index)
    _count(typist, line, PRINTED, "an input that was sent four times")
    return f"sent four times, answered with index {index}"


@clause("4.4")
def exactly_once_after_a_cut(subject: Subject) -> str:
    """So it is on another link of the same client."""
    typist, line = _writer(subject), new_line()
    index = typist.type(line + b"\n")
    typist.link.close()
    again = Typist(subject, client=typist.client)
    again.take_turn()
    again.submit(line + b"\n", sequence=typist.last)
    _same(again.answer(typist.last), index)
    again.last = typist.last
    begin = again.link.output.count(line)
    again.settle()
    if again.link.output.count(line) > max(begin, PRINTED):
        raise Broken("an input was applied again on another link")
    return f"index {index} on both links"


@clause("4.4")
def repeat_without_an_answer(subject: Subject) -> str:
    """An input that was not answered is not lost and not doubled by a repeat."""
    typist, line = _writer(subject), new_line()
    sequence = typist.submit(line + b"\n")
    typist.link.close()
    again = Typist(subject, client=typist.client)
    again.take_turn()
    again.submit(line + b"\n", sequence=sequence)
    answer = again.answer(sequence)
    if answer.name == "REFUSE":
        raise Broken(f"the repeat was refused: {answer['code']}")
    again.last = sequence
    again.settle()
    seen = again.link.output.count(line)
    if seen > PRINTED:
        raise Broken(f"it was printed {seen} times")
    return f"answered with {answer.name}"


@clause("4.4")
def other_bytes_under_a_known_id(subject: Subject) -> str:
    """A known id with other bytes is not applied."""
    typist, line, other = _writer(subject), new_line(), new_line()
    index = typist.type(line + b"\n")
    typist.submit(other + b"\n", sequence=typist.last)
    answer = typist.answer(typist.last)
    if answer.name == "ACKNOWLEDGE":
        _same(answer, index)
    _count(typist, other, 0, "another text under a known id")
    return str(answer.fields.get("code", f"index {index}"))


@clause("4.4")
def sequence_gap(subject: Subject) -> str:
    """A client counts without gaps: a sequence too far ahead is refused."""
    typist, line = _writer(subject), new_line()
    typist.type(b"\n")
    typist.submit(line + b"\n", sequence=typist.last + 5)
    found = typist.refused(typist.last + 5, "input-gap")
    _count(typist, line, 0, "an input after a gap")
    return str(found["code"])


@clause("4.4")
def inquire(subject: Subject) -> str:
    """INQUIRE tells what became of an input."""
    typist = _writer(subject)
    index = typist.type(b"\n")
    typist.link.send("INQUIRE", client=typist.client, sequence=typist.last)
    _same(typist.answer(typist.last), index)
    return f"index {index}"


@clause("4.4")
def order_of_inputs(subject: Subject) -> str:
    """Inputs that are sent at once are applied in their order."""
    typist = _writer(subject)
    lines = [new_line() for _ in range(MANY)]
    sequences = [typist.submit(line + b"\n") for line in lines]
    answers = [typist.answer(one) for one in sequences]
    if [one.name for one in answers] != ["ACKNOWLEDGE"] * MANY:
        raise Broken("not all of them were acknowledged")
    indexes = [one["index"] for one in answers]
    if indexes != sorted({*indexes}):
        raise Broken(f"their indexes are {indexes}")
    typist.settle()
    places = [typist.link.output.find(line) for line in lines]
    if places != sorted(places) or -1 in places:
        raise Broken("they were printed in another order")
    return f"{MANY} inputs, indexes {indexes[0]} to {indexes[-1]}"


@clause("4.4")
def another_incarnation(subject: Subject) -> str:
    """An input of another life is refused, and not applied."""
    typist, line = _writer(subject), new_line()
    sequence = typist.submit(line + b"\n", incarnation=typist.incarnation + 1)
    found = typist.refused(sequence, "stale-incarnation")
    again = Typist(subject)
    again.take_turn()
    _count(again, line, 0, "an input of another life")
    return str(found["code"])


@clause("4.4")
def no_attachment(subject: Subject) -> str:
    """Without an attachment nothing is typed."""
    typist, line = _writer(subject), new_line()
    link = subject.proven()
    link.send(
        "SUBMIT",
        client=typist.client,
        sequence=typist.last + 1,
        kind="keys",
        incarnation=typist.incarnation,
        epoch=typist.link.epoch,
        payload=line + b"\n",
        seen=None,
        waits=True,
    )
    found = link.wait("ACKNOWLEDGE", "REFUSE", "REPORT", "GOODBYE")
    _count(typist, line, 0, "an input without an attachment")
    if found.name not in ("REFUSE", "GOODBYE"):
        raise Broken(f"it was answered with {found.name} and not refused")
    return str(found["code"])


@clause("5")
def input_too_large(subject: Subject) -> str:
    """An input over 65,536 bytes is refused, and nothing of it applied."""
    typist, line = _writer(subject), new_line()
    typist.submit((line + b"\n").ljust(MAX_INPUT + 1, b"\n"))
    code = typist.link.closes("an input over the limit", unless=("ACKNOWLEDGE",))
    again = _writer(subject)
    _count(again, line, 0, "an input over the limit")
    return code or "it hung up"


def _same(answer: Message, index: int) -> None:
    if answer.name != "ACKNOWLEDGE":
        why = answer.fields.get("code") or answer.fields.get("outcome")
        raise Broken(f"an input that was applied is answered with {answer.name}: {why}")
    if answer["index"] != index:
        raise Broken(f"it is answered with index {answer['index']}, and was {index}")
