"""Checks that a single order of inputs explains what the operators saw.

Two checkers, from the list in docs/explanation/simulator.md:

`witness_check` uses the order the serializer itself claims: every answer names
an index. It is fast, and reads every history.

`search_check` trusts no index. It looks for any order of the operations that
respects real time and explains what each operator was told and what the
terminal showed (Wing and Gong's search with Lowe's memory). It is slow, reads
short histories, and exists to catch a log that lies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputId
from holdfast.testing.world import Violation, demand

MAX_SEARCH = 300
"""Operations in one search: beyond that it may not end."""

MAX_STEPS = 200_000
"""States looked at before a search is given up, which is a failure."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An acknowledged input: when it was sent, when answered, and what with."""

    session: SessionId
    called_at: float
    returned_at: float
    index: int
    id: InputId


def witness_check(history: Sequence[Operation]) -> None:
    """Check that indices agree with real time.

    Raises:
        Violation: Two operations share an index, or one that had returned
            before another was called comes after it.

    """
    by_index = sorted(history, key=lambda operation: operation.index)
    indices = [operation.index for operation in by_index]
    demand(len(set(indices)) == len(indices), "I1", "two inputs share an index")
    latest_call = float("-inf")
    for operation in by_index:
        demand(
            operation.returned_at >= latest_call,
            "I1",
            f"{operation.id} returned before an earlier one was called",
        )
        latest_call = max(latest_call, operation.called_at)


def search_check(history: Sequence[Operation], shown: Sequence[InputId]) -> None:
    """Check that some order explains both the answers and the terminal.

    `shown` is the order in which inputs reached the terminal. Operations that
    were not acknowledged may or may not be in it.

    Raises:
        Violation: No order does, or none was found in time.

    """
    operations = sorted(history, key=lambda operation: operation.called_at)[:MAX_SEARCH]
    place = {shown_id: position for position, shown_id in enumerate(shown)}
    for operation in operations:
        demand(operation.id in place, "I1", f"{operation.id} acked and never shown")
    if not _search(operations, [place[operation.id] for operation in operations]):
        raise Violation("I1: no order of the inputs explains what was seen")


def _search(operations: list[Operation], place: list[int]) -> bool:
    """Linearise one operation after another, going back when stuck."""
    count = len(operations)
    done = 0
    everything = (1 << count) - 1
    seen = {done}
    stack: list[tuple[int, int]] = [(0, -1)]
    steps = 0
    while stack:
        done, last = stack.pop()
        if done == everything:
            return True
        steps += 1
        demand(steps <= MAX_STEPS, "I1", "the search for an order did not end")
        pending = [n for n in range(count) if not done >> n & 1]
        # A call made after another returned cannot come before it.
        horizon = min(operations[n].returned_at for n in pending)
        ready = [n for n in pending if operations[n].called_at <= horizon]
        # Pushed last is tried first: what the terminal showed first. That is a
        # hint for the order of the search, and takes no answer for granted.
        for n in sorted(ready, key=place.__getitem__, reverse=True):
            after = done | 1 << n
            if place[n] > last and after not in seen:
                seen.add(after)
                stack.append((after, place[n]))
    return False
