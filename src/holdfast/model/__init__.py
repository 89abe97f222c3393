"""Values everyone may hold: ids, actors, envelopes, geometry, errors, events."""
