"""The relay: connects hosts and operators, and cannot read what they say."""
