"""What the overview of all sessions shows, and what its keys do."""
