"""What somebody who is attached is shown of a session, and how."""
