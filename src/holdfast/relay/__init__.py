"""The relay: joins hosts and operators that it cannot read."""
