"""Makes the parts that report on a session's processes."""

from holdfast.core.session.stream import StreamWindow
from holdfast.holder.context import Context
from holdfast.holder.processes.leader import Leader
from holdfast.holder.processes.preflight_report import PreflightReport
from holdfast.holder.processes.recent_activity import RecentActivity
from holdfast.holder.processes.session_report import SessionReport
from holdfast.holder.provenance.process_starters import ProcessStarters
from holdfast.holder.session import Session


def reports_on(
    context: Context, session: Session, window: StreamWindow, leader: Leader
) -> tuple[SessionReport, PreflightReport]:
    """Return what tells of state and processes, and of what blocks a checkpoint."""
    descriptors = context.descriptors
    report = SessionReport(
        descriptors.session,
        descriptors.record.pid,
        descriptors.master,
        context.timers,
        has_exited=leader.exit is not None,
        starters=ProcessStarters(descriptors, context.shell).actors,
        lately=RecentActivity(window, context.attention),
        life=descriptors.incarnation,
        capsule=descriptors.held.capsule,
    )
    intake = session.driver.intake
    preflight = PreflightReport(descriptors, context.timers, lambda: intake.is_frozen)
    return report, preflight
