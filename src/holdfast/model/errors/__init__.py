"""Every exception holdfast raises on purpose.

HoldfastError
├── UsageError              the request itself is wrong: fix the call
├── Forbidden               you may not, as things stand: get the authority first
├── PeerError               the other side broke the protocol: hang up
├── Unavailable             nothing was done: try again later
└── Unsettled               it may or may not have happened: look, do not repeat

Catch a branch, not a leaf: the five branches are the five things a caller can
do. A leaf keeps its facts, builds its own sentence and says what to do next.
Its `code` is for machines and never changes; the sentence may.

Leaves cross the wire as code and facts, and `from_facts` makes them again on
the other side: the names in `facts` are the parameters of the leaf.
"""

# A new leaf is written once, in its module: this list would only repeat it.
# ruff: noqa: F403
from holdfast.model.errors.branches import *
from holdfast.model.errors.forbidden import *
from holdfast.model.errors.images import *
from holdfast.model.errors.moves import *
from holdfast.model.errors.peer import *
from holdfast.model.errors.unavailable import *
from holdfast.model.errors.unsettled import *
from holdfast.model.errors.usage import *
