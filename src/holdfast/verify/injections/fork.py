"""Mode 4: one session becomes two, and what each does is its own."""

from pathlib import Path

from holdfast.verify.account import Facts, Unavailable
from holdfast.verify.scene import Scene
from holdfast.verify.workloads import REPL

BRANCH = "/run/holdfast/branch"
"""Where a program in a capsule finds its token."""


def inject(scene: Scene) -> None:
    """Fork a REPL and a shell; compare memory, files and effects."""
    account = scene.account
    missing = account.ability("capsules") or account.ability("criu")
    if missing:
        raise Unavailable(missing)
    _memory(scene)
    _effects(scene)
    missing = account.ability("own files")
    if missing:
        scene.cannot("files of the two are apart", missing)
    else:
        _files(scene)


def _memory(scene: Scene) -> None:
    account = scene.account
    account.new("box", "--capsule", *REPL)
    account.run("box", "x = list(range(1000))")
    made = account.facts("fork", "--name", "twig", "box")
    same = [_says(scene, name, "print(sum(x))") for name in ("box", "twig")]
    account.run("box", "x.append(1)")
    account.run("twig", "x.append(2)")
    apart = [_says(scene, name, "print(sum(x))") for name in ("box", "twig")]
    facts = [account.session(name) or {} for name in ("box", "twig")]
    scene.check(
        "both live, with the same memory at first and each its own after that",
        holds=same == ["499500", "499500"] and apart == ["499501", "499502"],
        pids=" and ".join(str(one.get("pid")) for one in facts),
        at_first=" and ".join(same),
        then=" and ".join(apart),
        parent_stood_still=f"{made['still_ms']} ms",
    )
    tokens = [account.facts("token", name) for name in ("box", "twig")]
    _identities(scene, made, tokens)


def _identities(scene: Scene, made: Facts, tokens: list[Facts]) -> None:
    box, twig = tokens
    scene.check(
        "each has an id and a token of its own, and the branch names its parent",
        holds=box["session"] != twig["session"] == made["id"]
        and box["token"] != twig["token"]
        and twig["parent"] == box["session"] == made["parent"],
        parent=box["branch"],
        branch=twig["branch"],
    )


def _effects(scene: Scene) -> None:
    """Have both order the same thing outside; then let the receiver look at tokens."""
    account = scene.account
    order = f"print('order-7', open({BRANCH!r}).read().strip())"
    orders = [_says(scene, name, order).split() for name in ("box", "twig")]
    said = [account.say("token", "--check", "--json", one[-1]) for one in orders]
    checked = [one.facts for one in said if one.status == 0]
    taken = [one for one in checked if not one["parent"]]
    scene.check(
        "an order is placed twice; the tokens tell its receiver by whom",
        holds={one[0] for one in orders} == {"order-7"}
        and len({one["branch"] for one in checked}) == len(orders)
        and len(taken) == 1,
        orders=len(orders),
        with_valid_token=len(checked),
        taken_by_a_receiver_that_looks=len(taken),
    )


def _files(scene: Scene) -> None:
    account = scene.account
    account.new("own", "--capsule", "--files", "own")
    account.run("own", "echo base > work.txt")
    account.facts("fork", "--name", "own-branch", "own")
    account.run("own", "echo parent > work.txt")
    account.run("own-branch", "echo branch >> work.txt")
    seen = [_says(scene, name, "cat work.txt") for name in ("own", "own-branch")]
    scene.check(
        "the files of the two are apart, and outside there is neither",
        holds=[one.split() for one in seen] == [["parent"], ["base", "branch"]]
        and not Path(account.home / "work.txt").exists(),
        parent=" ".join(seen[0].split()),
        branch=" ".join(seen[1].split()),
    )


def _says(scene: Scene, name: str, line: str) -> str:
    return str(scene.account.run(name, line)["output"]).strip()
