"""Who is behind what runs in a session."""
