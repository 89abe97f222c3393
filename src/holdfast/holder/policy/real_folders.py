"""Where the paths named by a line or an exec really lead.

Looked up only if a rule of the policy needs it, and at the moment of judging: links
are followed as they are then.
"""

from dataclasses import replace

from holdfast.core.policy.named_paths import every_path
from holdfast.core.policy.policy import Policy, commands_in
from holdfast.linux.real_paths import RealPaths, home, own_folders
from holdfast.model.policy_questions import Question


def placed(policy: Policy, question: Question) -> Question:
    """Return the question with where its paths lead now, if a rule asks for it."""
    is_whole = question.execution is not None or question.resolution is not None
    if not (policy.index.has_files and is_whole):
        return question
    real = RealPaths(question.cwd, question.folders)
    named = every_path(commands_in(question))
    return replace(
        question,
        paths={one: real.of(one) for one in named},
        home=home(),
        own=own_folders(),
    )
