"""How hard do the properties look? Few examples by default, many on request.

pytest --hypothesis-profile=thorough
"""

from hypothesis import settings

settings.register_profile(
    "quick", max_examples=40, stateful_step_count=40, deadline=None
)
settings.register_profile(
    "thorough", max_examples=1000, stateful_step_count=60, deadline=None
)
settings.load_profile("quick")
