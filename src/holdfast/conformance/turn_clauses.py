"""Section 4.5: the turn, its epochs, and who may have it."""

from typing import TYPE_CHECKING

from holdfast.conformance.clauses import clause
from holdfast.conformance.link import Message
from holdfast.conformance.subject import Subject, new_line
from holdfast.conformance.typist import Typist
from holdfast.conformance.verdict import Broken, NotTried

if TYPE_CHECKING:
    from holdfast.conformance.packed_form import Value


def _pair(subject: Subject) -> tuple[Typist, Typist]:
    """Return both operators at their keyboards, the first with the turn."""
    other = subject.other()
    first = Typist(subject)
    first.take_turn()
    second = Typist(subject, other)
    if second.link.holder != first.operator.actor:
        raise Broken("ATTACHED does not name the operator who has the turn")
    return first, second


def _unseen(typist: Typist, line: bytes, what: str) -> None:
    typist.settle()
    if line in typist.link.output:
        raise Broken(f"{what} reached the terminal")


def _passed(found: Message | None, before: int, holder: str) -> int:
    if found is None or found["holder"] != holder or found["epoch"] <= before:
        raise Broken("the turn passed without a higher epoch")
    return int(found["epoch"])


@clause("4.5")
def typing_takes_a_free_turn(subject: Subject) -> str:
    """An input under a free turn takes it, and everybody is told."""
    first = Typist(subject)
    first.free_turn()
    watcher, _ = subject.attached(mode="observe")
    before = first.link.epoch
    first.type(b"\n")
    found = watcher.wait("TURN_PASSED")
    epoch = _passed(found, before, first.operator.actor)
    return f"epoch {before} became {epoch}"


@clause("4.5")
def typing_ahead(subject: Subject) -> str:
    """What was sent under the free turn counts for who took it."""
    first = Typist(subject)
    first.free_turn()
    free = first.link.epoch
    sequences = [first.submit(b"\n", epoch=free) for _ in range(3)]
    for sequence in sequences:
        if (found := first.answer(sequence)).name != "ACKNOWLEDGE":
            raise Broken(f"it was refused: {found.fields.get('code')}")
    return f"three inputs under epoch {free}"


@clause("4.4")
def resize_leaves_it_free(subject: Subject) -> str:
    """A resize under a free turn leaves it free."""
    first = Typist(subject)
    first.free_turn()
    size = first.attached["size"]
    payload = f"{size['columns']}x{size['rows']}".encode()
    found = first.answer(first.submit(payload, kind="resize"))
    if found.name != "ACKNOWLEDGE":
        raise Broken(f"it was answered with {found.name}")
    _, now = subject.attached()
    if now["holder"]:
        raise Broken("a resize took the turn")
    return f"{size['columns']} x {size['rows']}"


@clause("4.5")
def not_your_turn(subject: Subject) -> str:
    """Who has not the turn is refused, and told who has it."""
    first, second = _pair(subject)
    line = new_line()
    found = second.refused(second.submit(line + b"\n"), "not-your-turn")
    if first.operator.actor not in found["facts"].values():
        raise Broken("the refusal does not name the operator who has the turn")
    _unseen(first, line, "an input of an operator without the turn")
    return str(found["code"])


@clause("4.5")
def take_a_held_turn(subject: Subject) -> str:
    """TAKE of a turn that is not free is refused."""
    first, second = _pair(subject)
    second.link.send("TAKE")
    found = second.link.wait("REFUSE", "TURN_PASSED")
    if found.name != "REFUSE":
        raise Broken("the turn was taken from the operator who had it")
    first.settle()
    return str(found["code"])


@clause("4.5")
def give(subject: Subject) -> str:
    """GIVE passes the turn on, with a higher epoch, and both are told."""
    first, second = _pair(subject)
    before = first.link.epoch
    first.link.send("GIVE", to=second.operator.actor)
    epochs = {
        _passed(one.wait_for_turn(second.operator.actor), before, second.operator.actor)
        for one in (first, second)
    }
    if len(epochs) != 1:
        raise Broken(f"the two were told different epochs: {sorted(epochs)}")
    second.settle()
    return f"epoch {before} became {epochs.pop()}"


@clause("4.5")
def stale_epoch(subject: Subject) -> str:
    """An input under an old epoch is refused, and not applied."""
    first, second = _pair(subject)
    first.settle()
    old, line = first.link.epoch, new_line()
    first.link.send("GIVE", to=second.operator.actor)
    first.wait_for_turn(second.operator.actor)
    second.wait_for_turn(second.operator.actor)
    second.link.send("GIVE", to=first.operator.actor)
    first.wait_for_turn(first.operator.actor)
    sequence = first.submit(line + b"\n", epoch=old)
    found = first.refused(sequence, "stale-epoch")
    again = Typist(subject)
    _unseen(again, line, "an input under an old epoch")
    return f"{found['code']}: {old}, and it is {first.link.epoch}"


@clause("4.5")
def epoch_ahead(subject: Subject) -> str:
    """An epoch that never was is refused."""
    first = Typist(subject)
    first.take_turn()
    line = new_line()
    sequence = first.submit(line + b"\n", epoch=first.link.epoch + 7)
    found = first.refused(sequence, "stale-epoch")
    again = Typist(subject)
    _unseen(again, line, "an input under an epoch that never was")
    return str(found["code"])


@clause("4.5")
def seize(subject: Subject) -> str:
    """SEIZE takes the turn at once, with a higher epoch."""
    first, second = _pair(subject)
    first.link.send("GIVE", to=second.operator.actor)
    second.wait_for_turn(second.operator.actor)
    first.wait_for_turn(second.operator.actor)
    before, line = first.link.epoch, new_line()
    first.link.send("SEIZE", halt="none")
    epoch = _passed(
        first.wait_for_turn(first.operator.actor), before, first.operator.actor
    )
    sequence = second.submit(line + b"\n", epoch=before)
    found = second.refused(sequence, "not-your-turn", "stale-epoch", "turn-moved")
    _unseen(first, line, "an input of the operator who was seized from")
    return f"epoch {before} became {epoch}; the former holder: {found['code']}"


@clause("4.5")
def rights(subject: Subject) -> str:
    """SEIZE, FREEZE and END without the right are refused."""
    first, second = _pair(subject)
    second.link.send("WHO")
    if "seize" in second.link.wait("PRESENCE")["rights"]:
        raise NotTried(f"{second.operator.name} has the right to seize")
    wanted: dict[str, dict[str, Value]] = {
        "SEIZE": {"halt": "none"},
        "FREEZE": {},
        "END": {"signal": 15, "leave": False},
        "REVOKE": {"actor": first.operator.actor},
    }
    for name, fields in wanted.items():
        second.link.send(name, **fields)
        found = second.link.wait("REFUSE", "TURN_PASSED", "STATE", "EXITED", "GOODBYE")
        if found.name != "REFUSE":
            raise Broken(f"{name} of {second.operator.name} was answered: {found.name}")
    first.settle()
    return ", ".join(wanted)


@clause("4.5")
def drop(subject: Subject) -> str:
    """DROP frees the turn, with a higher epoch."""
    first = Typist(subject)
    first.take_turn()
    before = first.link.epoch
    first.link.send("DROP")
    epoch = _passed(first.wait_for_turn(""), before, "")
    return f"epoch {before} became {epoch}"


@clause("4.5")
def ask(subject: Subject) -> str:
    """ASK is told to who has the turn, and ANSWER passes it on."""
    first, second = _pair(subject)
    second.link.send("ASK", timeout_ms=60_000)
    found = first.link.wait("TURN_ASKED")
    if found["asker"] != second.operator.actor:
        raise Broken("it names another asker")
    first.link.send("ANSWER", asker=second.operator.actor, granted=True)
    second.wait_for_turn(second.operator.actor)
    second.settle()
    return f"asked, with {found['wait_ms']} ms to wait, and granted"


@clause("4.10")
def who(subject: Subject) -> str:
    """WHO is answered with everybody who is attached."""
    first, second = _pair(subject)
    first.link.send("WHO")
    found = first.link.wait("PRESENCE")
    clients = {one["client"] for one in found["present"]}
    if not {first.client, second.client} <= clients:
        raise Broken("somebody who is attached is not in it")
    if (found["holder"], found["epoch"]) != (first.operator.actor, first.link.epoch):
        raise Broken("turn or epoch are others than were told before")
    return f"{len(clients)} clients"


@clause("4.5")
def epochs_rise(subject: Subject) -> str:
    """Every change of hands has a higher epoch, on every link."""
    if subject.notes.epochs:
        raise Broken(f"epoch {subject.notes.epochs[0]}")
    return "so it was in all of the above"


@clause("4.1")
def only_its_own_kinds(subject: Subject) -> str:
    """Nothing came that the session's side does not send."""
    if subject.notes.side:
        raise Broken(subject.notes.side[0])
    return f"{subject.notes.frames} frames"


@clause("3.2")
def one_form(subject: Subject) -> str:
    """Everything that came was written in the one way there is."""
    if subject.notes.form:
        raise Broken(subject.notes.form[0])
    return f"{subject.notes.frames} frames"
