"""Reads the history of a run and says which promise was broken.

Each check is a function of the lines alone; it returns what is wrong, in words. The
order of inputs is judged by the checkers that the simulator uses.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from tests.chaos.history import Line

from holdfast.model.ids import ClientId, SessionId
from holdfast.model.inputs import InputId
from holdfast.testing.history import Operation, search_check, witness_check
from holdfast.testing.world import Violation

ONE_READ = 8 * 1024
"""Bytes that the death of a holder can take with it (docs/spec/keeper.md, 5)."""

PRINTED = re.compile(r"line-(\d+)\r\n")


def exactly_once(lines: Sequence[Line]) -> Iterator[str]:
    """What was acknowledged is there once; what was refused, not; nothing is twice."""
    shown = [token for line in _of(lines, "tally") for token in line["tokens"]]
    counts = Counter(shown)
    yield from (
        f"{token} was applied {n} times" for token, n in counts.items() if n > 1
    )
    calls = {line["token"] for line in _of(lines, "call")}
    yield from (
        f"{token} was typed by nobody" for token in counts if token not in calls
    )
    for answer in _of(lines, "answer"):
        token = answer["token"]
        if answer["outcome"] == "applied" and not counts[token]:
            yield f"{token} was acknowledged, and is lost"
        if answer["outcome"] == "refused" and counts[token]:
            yield f"{token} was refused ({answer['code']}), and applied"


def one_order(lines: Sequence[Line]) -> Iterator[str]:
    """One order explains every answer, and what the program has read."""
    called = {line["token"]: line for line in _of(lines, "call")}
    acked = [one for one in _of(lines, "answer") if "index" in one]
    acked = [one for one in acked if one["outcome"] == "applied"]
    operations = [_operation(called[one["token"]], one) for one in acked]
    place = {one["token"]: _id(called[one["token"]]) for one in acked}
    shown = [token for line in _of(lines, "tally") for token in line["tokens"]]
    try:
        witness_check(operations)
        for begin in range(0, len(operations), SEARCHED):
            some = operations[begin : begin + SEARCHED]
            search_check(some, [place[token] for token in shown if token in place])
    except Violation as violation:
        yield str(violation)


SEARCHED = 200
"""Operations in one search; the checker takes a few more."""


def _operation(call: Line, answer: Line) -> Operation:
    session = SessionId(call["session"])
    return Operation(session, call["at"], answer["at"], answer["index"], _id(call))


def _id(call: Line) -> InputId:
    return InputId(ClientId(call["client"]), call["sequence"])


def runs_once(lines: Sequence[Line]) -> Iterator[str]:
    """A command under a key runs at most once, and its status is the one it had."""
    wanted = {line["key"]: line["status"] for line in _of(lines, "run")}
    ran = Counter(key for line in _of(lines, "effects") for key in line["keys"])
    yield from (f"{key} ran {count} times" for key, count in ran.items() if count > 1)
    for line in _of(lines, "ran"):
        key = line["key"]
        if line["status"] is None:
            continue
        if not ran[key]:
            yield f"{key} is said to have run, and did nothing"
        if line["status"] != wanted[key]:
            yield f"{key} ended with {wanted[key]}, and {line['status']} was told"


def one_writer(lines: Sequence[Line]) -> Iterator[str]:
    """What was applied was typed by who had the turn then, in that turn's epoch."""
    for book in _of(lines, "book"):
        holder, epoch = None, 0
        for entry in map(json.loads, book["entries"]):
            if entry["epoch"] < epoch:
                yield f"{book['name']}: epoch {entry['epoch']} after {epoch}"
            epoch = max(epoch, entry["epoch"])
            if entry["kind"] == "turn":
                holder = entry["to"]
            typed = entry["kind"] == "input" and entry["input"] != "start"
            if typed and entry["verdict"] == "allow" and entry["actor"] != holder:
                yield f"{book['name']}: entry {entry['index']} without the turn"


def books_verify(lines: Sequence[Line]) -> Iterator[str]:
    """Every logbook is a whole chain, and no input is settled twice."""
    for book in _of(lines, "book"):
        before, settled = None, Counter[int]()
        for index, text in enumerate(book["entries"]):
            entry = json.loads(text)
            if entry["index"] != index:
                yield f"{book['name']}: entry {index} is missing"
                break
            if before is not None and entry["prev"] != before:
                yield f"{book['name']}: entry {index} does not follow"
                break
            before = hashlib.sha256(text.encode()).hexdigest()
            if entry["kind"] == "settled":
                settled[entry["of"]] += 1
        yield from (
            f"{book['name']}: input {index} was settled {count} times"
            for index, count in settled.items()
            if count > 1
        )


def no_lost_output(lines: Sequence[Line]) -> Iterator[str]:
    """Every viewer saw what was printed: once, in order, all but a dead holder's read.

    Of a session whose holder died, that death may cost one read; how many holders
    died is in the logbook of nobody, so that the faults are counted.
    """
    deaths = sum(_ends_holder(line) for line in _of(lines, "fault"))
    printed = next((line["lines"] for line in _of(lines, "printed")), 0)
    viewers = _of(lines, "seen")
    for line in viewers:
        who = line["viewer"]
        yield from (f"{who}: {trouble}" for trouble in line["troubles"])
        yield from _holes(who, line["text"], printed, deaths)
    first, *others = (*viewers, {"text": ""})
    for other in others[:-1]:
        if other["text"] != first["text"]:
            yield f"{first['viewer']} and {other['viewer']} saw different streams"


def _ends_holder(fault: Line) -> bool:
    return "holder of printed" in fault["victim"] or fault["kind"] == "stop"


def _holes(who: str, text: str, printed: int, deaths: int) -> Iterator[str]:
    """Say where lines are missing, or came twice, beyond what deaths may cost."""
    numbers = [int(found) for found in PRINTED.findall(text)]
    pairs = zip(numbers, [*numbers[1:], printed + 1], strict=True)
    holes = [(one, two) for one, two in pairs if two != one + 1]
    yield from (f"{who}: line {two} after {one}" for one, two in holes if two <= one)
    large = [
        (one, two) for one, two in holes if (two - one) * len("line-1\r\n") > ONE_READ
    ]
    yield from (f"{who}: lines {one + 1} to {two - 1} are lost" for one, two in large)
    if len(holes) > deaths:
        yield f"{who}: {len(holes)} holes, and {deaths} holders may have died"


def no_lost_session(lines: Sequence[Line]) -> Iterator[str]:
    """Every session that began lives on, with the same leader, or ended by itself."""
    now = {line["session"]: line for line in _of(lines, "listed")}
    for began in _of(lines, "began"):
        name, found = began["name"], now.get(began["session"])
        if began["exits"] is not None:
            continue  # Its end is another check's.
        if found is None:
            yield f"{name} is not listed any more"
        elif found["state"] in ("lost", "exited"):
            yield f"{name} is {found['state']}"
        elif not found["answers"]:
            yield f"{name} answers nobody"
        elif (found["pid"], found["started"]) != (began["pid"], began["started"]):
            yield f"{name} has another leader than it began with"


def no_lost_exit(lines: Sequence[Line]) -> Iterator[str]:
    """Every session that ended is listed with the status its program had."""
    now = {line["session"]: line for line in _of(lines, "listed")}
    for began in _of(lines, "began"):
        wanted, found = began["exits"], now.get(began["session"])
        if wanted is None:
            continue
        told = None if found is None else found["exit"]
        if told != wanted:
            yield f"{began['name']} ended with {wanted}, and {told} is told"


def one_incarnation(lines: Sequence[Line]) -> Iterator[str]:
    """A session that moved counted on: a number that comes twice was two of it."""
    for line in _of(lines, "ticks"):
        pairs = zip(line["numbers"], line["numbers"][1:], strict=False)
        for one, two in pairs:
            if two != one + 1:
                yield f"{line['name']}: it counted {two} after {one}"
                break
        if len(line["lives_at"]) != 1:
            yield f"{line['name']} lives at {line['lives_at']}"


CHECKS: dict[str, Callable[[Sequence[Line]], Iterable[str]]] = {
    "every acknowledged input is applied exactly once": exactly_once,
    "one order explains all answers": one_order,
    "a command runs once under its key": runs_once,
    "one operator writes at a time": one_writer,
    "every logbook is whole": books_verify,
    "no output is lost": no_lost_output,
    "no session is lost": no_lost_session,
    "no exit status is lost": no_lost_exit,
    "a session lives once": one_incarnation,
}


def violations(lines: Sequence[Line]) -> dict[str, list[str]]:
    """Return for every check what it found wrong."""
    return {name: list(check(lines)) for name, check in CHECKS.items()}


def _of(lines: Sequence[Line], do: str) -> list[Line]:
    return [line for line in lines if line["do"] == do]
