"""What the host does by itself and that nothing else in it asks about."""

from collections.abc import Coroutine

from holdfast.host.autonomy_review import AutonomyReview
from holdfast.host.metrics_process import serve_metrics


def own_tasks() -> tuple[Coroutine[None, None, None], ...]:
    """Return what to run until the host ends."""
    return serve_metrics(), AutonomyReview().run()
