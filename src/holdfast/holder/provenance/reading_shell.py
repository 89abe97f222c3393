"""Whether the session's shell reads the line that is typed now."""

from holdfast.core.session.session_state import Word, decide, is_alone
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import pty, session_state


def shell_reads(descriptors: SessionDescriptors, shell: ShellCommands) -> bool:
    """Tell whether the shell, and nobody else, reads the line that is typed now.

    Its marks say whether it is at its prompt; where it has none, the kernel
    says what it waits for.
    """
    master, leader = descriptors.master, descriptors.record.pid
    if pty.foreground(master) != leader:
        return False
    seen = session_state.look(master, leader)
    if not is_alone(seen):
        return False
    if shell.is_marked:
        return shell.at_prompt
    said = decide(seen)
    return said.is_sure and said.word is Word.AT_PROMPT
