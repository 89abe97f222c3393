"""A session's processes: reported, frozen, swept away."""
