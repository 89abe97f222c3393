"""What the policy is asked about a session, and its answers."""
