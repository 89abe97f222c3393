"""A proof of a start is good once, and who is refused again and again is stopped."""

import json
import time
from pathlib import Path

from tests.scenarios.gated import write_policy
from tests.scenarios.proving import proven
from tests.scenarios.starts import (
    ALLOW,
    ASK,
    FREE,
    a_machine,
    a_marker,
    asked,
    books,
)
from tests.scenarios.support import PATIENCE, Machine, eventually

from holdfast.client import current_operator
from holdfast.holder.policy import refused_starts
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.linux.stored.recent_marks import recent_marks
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

__all__ = ["a_machine", "a_marker"]


def send_raw(raw: bytes) -> packets.Packet:
    """Say to the keeper these bytes, and no others."""
    with packets.connect(places.keeper_socket(), PATIENCE) as link:
        link.send(raw)
        heard = packets.receive(link)
    assert heard is not None
    return heard[0]


def answer_to(raw: bytes) -> packets.Packet | None:
    """Send it; return the answer, unless there is nobody yet to give one."""
    answer = send_raw(raw)
    return None if answer.get("code") == "no-keeper" else answer


def runs(marker: Path) -> int:
    return len(marker.read_text().split()) if marker.exists() else 0


def test_a_request_that_is_sent_again_runs_nothing(here: Machine, marker: Path) -> None:
    write_policy(FREE + ALLOW)
    packet = proven(asked(marker))
    raw = json.dumps(packet).encode()
    assert send_raw(raw)["ok"]
    eventually("it runs", lambda: runs(marker))

    spelled = {**packet, "proof": str(packet["proof"]).upper(), "extra": 1}
    again = [raw, raw, json.dumps(spelled).encode()]
    answers = [send_raw(one) for one in again]
    # Nor by whoever comes after those who had heard of it.
    for what in ("nursery", "trustee", "keeper"):
        here.kill(what)
        here.pid(what)  # Waits for the next.
        answers.append(eventually("an answer", lambda: answer_to(raw)))

    assert {answer["code"] for answer in answers} == {"not-proven"}, answers
    assert runs(marker) == 1
    assert send_raw(json.dumps(proven(asked(marker))).encode())["ok"]


def test_two_that_send_it_at_the_same_time_start_it_once(
    here: Machine, marker: Path
) -> None:
    write_policy(FREE + ALLOW)
    raw = json.dumps(proven(asked(marker))).encode()
    links = [packets.connect(places.keeper_socket(), PATIENCE) for _ in range(8)]

    for link in links:
        link.send(raw)
    heard = [packets.receive(link) for link in links]

    answers = [one[0]["ok"] is True for one in heard if one is not None]
    for link in links:
        link.close()
    assert sorted(answers) == [False] * 7 + [True]
    sessions = here.ask(do="list")["sessions"]
    assert isinstance(sessions, list)
    assert len(sessions) == 1


def test_who_is_refused_again_and_again_leaves_no_more_logbooks(
    here: Machine, marker: Path
) -> None:
    write_policy(FREE)  # An agent may start nothing.
    most = refused_starts.LIMIT

    answers = [here.ask(**proven(asked(marker))) for _ in range(most + 10)]

    codes = [answer["code"] for answer in answers]
    assert codes == ["denied-by-policy"] * most + ["budget-spent"] * 10
    facts = answers[-1]["facts"]
    assert isinstance(facts, dict)
    assert 0 < facts["wait_ms"] <= refused_starts.HOUR_MS
    assert len(books()) == most
    # What is allowed by now is not judged either; others go on.
    write_policy(FREE + ALLOW)
    assert here.ask(**proven(asked(marker)))["code"] == "budget-spent"
    carl = current_operator.enrol("carl", ActorKind.AGENT).actor.id
    assert here.ask(**proven(asked(marker, creator=carl)))["ok"]


def test_taking_another_name_for_each_does_not_help(
    here: Machine, marker: Path
) -> None:
    write_policy(FREE)
    now_ms = time.time_ns() // 1_000_000
    with recent_marks(refused_starts.REFUSED, now_ms) as marks:
        for number in range(refused_starts.ALL):
            marks.add(f"a_{number}".encode(), now_ms + refused_starts.HOUR_MS)

    answer = here.ask(**proven(asked(marker)))

    assert answer["code"] == "budget-spent"
    assert books() == []
    assert here.new("cat")  # A person's.


def test_what_is_asked_about_and_taken_back_counts_too(
    here: Machine, marker: Path
) -> None:
    write_policy(ASK)
    now_ms = time.time_ns() // 1_000_000
    request = proven(asked(marker))
    actor = str(request["creator"]).encode()
    with recent_marks(refused_starts.REFUSED, now_ms) as marks:
        for _ in range(refused_starts.LIMIT - 1):
            marks.add(actor, now_ms + refused_starts.HOUR_MS)
    answer = here.ask(**request)
    assert answer["state"] == "starting", answer

    human = here.join(SessionId(str(answer["id"])))
    pending = human.wait(wire.Pending)
    human.send(wire.Deny(pending.ticket, pending.digest))

    eventually(
        "it counts",
        lambda: here.ask(**proven(asked(marker))).get("code") == "budget-spent",
    )
