"""What the policy is asked about a session, and what it answers."""
