"""Makes what answers about a session's processes, from what a holder has."""

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
    vaulted = context.vaulted
    report = SessionReport(
        vaulted.session,
        vaulted.record.pid,
        vaulted.master,
        context.timers,
        has_exited=leader.exit is not None,
        starters=ProcessStarters(vaulted, context.shell).actors,
        lately=RecentActivity(window, context.attention),
        life=vaulted.incarnation,
        capsule=vaulted.held.capsule,
    )
    intake = session.driver.intake
    preflight = PreflightReport(vaulted, context.timers, lambda: intake.is_frozen)
    return report, preflight
