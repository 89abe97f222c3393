"""What an attached operator is shown of a session, and how."""
