"""Bugs in the orders by which a session is checkpointed, moved and drained."""

from tools.simulated_bugs import Mutant

MOVES = ("tests/core/capsule/test_move_order.py",)
"""What has to notice a bug in the order of a move."""

COPIES = ("tests/core/capsule/test_copy_queue.py",)
KEPT = ("tests/linux/stored/test_kept_copies.py",)

CAPSULE_BUGS = (
    Mutant(
        "what could not be sent is sent again at once",
        "core/capsule/copy_queue.py",
        (("_Waiting(kept, now, now + pause)", "_Waiting(kept, now, now)"),),
        COPIES,
    ),
    Mutant(
        "an older life is taken for the newer copy",
        "linux/stored/kept_copies.py",
        (
            (
                "key=lambda one: (one.told.incarnation, one.told.made_ms)",
                "key=lambda one: (one.told.made_ms, one.told.incarnation)",
            ),
        ),
        KEPT,
    ),
    Mutant(
        "an image is forgotten before the other host goes on",
        "core/capsule/move_order.py",
        (
            (
                "    Step.RELEASE,\n    Step.COMMIT,\n",
                "    Step.COMMIT,\n    Step.RELEASE,\n",
            ),
        ),
        MOVES,
    ),
    Mutant(
        "a stopped session goes on without a grant",
        "core/capsule/move_order.py",
        (
            (
                "self.step = Step.RECLAIM if self.is_stopped else Step.DROP",
                "self.step = Step.DROP",
            ),
        ),
        MOVES,
    ),
    Mutant(
        "a move that was offered is begun again with its stop",
        "core/capsule/move_order.py",
        (("Stage.OFFERED: Step.RELEASE", "Stage.OFFERED: Step.FORGET"),),
        MOVES,
    ),
    Mutant(
        "what cannot be claimed back is taken for moved",
        "core/capsule/move_order.py",
        (
            (
                "            self.step = Step.REST\n",
                "            self.step = Step.FORGET\n",
            ),
        ),
        MOVES,
    ),
    Mutant(
        "a drain begins what is too late",
        "core/session/drain_order.py",
        (("if now + self._slowest >= self.deadline:", "if False:"),),
    ),
    Mutant(
        "the newest leave first",
        "core/session/drain_order.py",
        (
            (
                "key=lambda one: (one.created_ms, one.session))",
                "key=lambda one: (-one.created_ms, one.session))",
            ),
        ),
    ),
    Mutant(
        "a drain forgets what has failed",
        "core/session/drain_order.py",
        (("        self.stayed[session] = why\n", ""),),
    ),
    Mutant(
        "all leave at once",
        "core/session/drain_order.py",
        (("room = AT_ONCE - len(self._begun)", "room = len(self._waiting)"),),
    ),
    Mutant(
        "a session is stopped before its image is sealed",
        "core/capsule/checkpoint_order.py",
        (
            (
                ("        Step.SEAL,\n        Step.COMMIT,\n        Step.END,"),
                ("        Step.COMMIT,\n        Step.SEAL,\n        Step.END,"),
            ),
        ),
    ),
    Mutant(
        "a restored tree runs before it bears the name",
        "core/capsule/checkpoint_order.py",
        (
            (
                ("        Step.COMMIT,\n        Step.FREE,\n        Step.END,"),
                ("        Step.FREE,\n        Step.COMMIT,\n        Step.END,"),
            ),
        ),
    ),
    Mutant(
        "the old tree ends before the commit",
        "core/capsule/checkpoint_order.py",
        (
            (
                ("        Step.COMMIT,\n        Step.FREE,\n        Step.END,"),
                ("        Step.END,\n        Step.COMMIT,\n        Step.FREE,"),
            ),
        ),
    ),
    Mutant(
        "an image is marked after the commit",
        "core/capsule/checkpoint_order.py",
        (
            (
                (
                    "        Step.MARK,\n"
                    "        Step.BUILD,\n"
                    "        Step.RESTORE,\n"
                    "        Step.CHECK,\n"
                    "        Step.COMMIT,"
                ),
                (
                    "        Step.BUILD,\n"
                    "        Step.RESTORE,\n"
                    "        Step.CHECK,\n"
                    "        Step.COMMIT,\n"
                    "        Step.MARK,"
                ),
            ),
        ),
    ),
    Mutant(
        "the old tree goes on while the new one is made",
        "core/capsule/checkpoint_order.py",
        (
            (
                ("        Step.DUMP,\n        Step.BUILD,"),
                ("        Step.DUMP,\n        Step.THAW,\n        Step.BUILD,"),
            ),
        ),
    ),
    Mutant(
        "a successor drops the tree that bears the name",
        "core/capsule/checkpoint_order.py",
        (
            (
                "if found.bearer is not Bearer.NEW and found.new is not Tree.GONE:",
                "if found.new is Tree.STILL:",
            ),
        ),
    ),
    Mutant(
        "a successor ends the tree that bears the name",
        "core/capsule/checkpoint_order.py",
        (
            (
                "if found.bearer is not Bearer.OLD and found.old is not Tree.GONE:",
                "if found.old is Tree.STILL:",
            ),
        ),
    ),
    Mutant(
        "a successor leaves a session standing still",
        "core/capsule/checkpoint_order.py",
        (
            (
                "        steps.append(Step.THAW)",
                "        pass",
            ),
        ),
    ),
    Mutant(
        "a successor sweeps whole images",
        "core/capsule/checkpoint_order.py",
        (
            (
                "if found.image is Image.DRAFT:",
                "if found.image is not Image.NONE:",
            ),
        ),
    ),
    Mutant(
        "a successor clears the note first",
        "core/capsule/checkpoint_order.py",
        (
            (
                "return (*steps, Step.CLEAR)",
                "return (Step.CLEAR, *steps)",
            ),
        ),
    ),
    Mutant(
        "a commit without an answer is taken for done",
        "core/capsule/checkpoint_order.py",
        (
            (
                (
                    "        self._why = event.why\n"
                    "        return [Perform(Step.SETTLE)]"
                ),
                (
                    "        self._why = event.why\n"
                    "        return self.handle(Done(event.step))"
                ),
            ),
        ),
    ),
    Mutant(
        "an image for once is restored twice",
        "core/capsule/manifest.py",
        (
            (
                "tried is not None and tried <= lived",
                "tried is not None and tried < lived",
            ),
        ),
    ),
)
