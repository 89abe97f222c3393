"""Time that the gate takes to judge one input."""

import time

from bench.table import Row, Scale, Table

from holdfast.core.policy.policy import Policy, judge
from holdfast.core.policy.policy_file import read_policy
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import LocalTime, Question

RULES = 1000
LINE = b"cd /src/app && make -j4 test | tee log.txt; git status --short\r"


def measure(table: Table, scale: Scale) -> None:
    """Judge one line by 1,000 rules, of which none is sure before the last."""
    rounds = scale.pick(200, 20)
    table.add(Row("reading 1,000 rules", _reading() * 1e3, "ms"))
    policy = read_policy(rules())
    for what, payload in (("one command", b"make test\r"), ("four commands", LINE)):
        figure = _judging(policy, payload, rounds) * 1e3
        table.add(Row(f"1,000 rules, {what}", figure, "ms", at_most=5))
    unread = b"x $(" + b"word " * 800 + b")\r"
    figure = _judging(policy, unread, rounds) * 1e3
    table.add(Row("1,000 rules, 4 KB that cannot be read", figure, "ms", at_most=5))


def rules() -> bytes:
    """Return a policy file of 1,000 rules, of every sort."""
    kinds = (
        'first = ["tool-{0}", "other-{0}-*"]\nkind = "agent"',
        'sequence = "make target-{0}"\nkind = ["agent", "service"]',
        'any = "*secret-{0}*"\ncwd = "/src"',
        'exact = "make test-{0}"\nhours = "00:00-24:00"\nsession = "b*"',
    )
    made = [
        f'[[rule]]\nverdict = "deny"\n{kinds[number % 4].format(number)}\n'
        for number in range(RULES)
    ]
    return "".join(made).encode()


def _reading() -> float:
    began = time.process_time()
    read_policy(rules())
    return time.process_time() - began


def _judging(policy: Policy, payload: bytes, rounds: int) -> float:
    question = Question(
        actor=Actor(actor_id(b"bench"), ActorKind.AGENT, "bot"),
        kind=InputKind.KEYS,
        payload=payload,
        session=SessionId("s_" + "a" * 16),
        session_name="build",
        clock=LocalTime(minute=720, weekday=0),
        cwd="/src/app",
        staged=b"",
    )
    began = time.process_time()
    for _ in range(rounds):
        judge(policy, question)
    return (time.process_time() - began) / rounds
