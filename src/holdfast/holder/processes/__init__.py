"""A session's processes: reported, frozen, cleaned up."""
