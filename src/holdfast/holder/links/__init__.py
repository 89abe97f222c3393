"""Connections of a holder: clients, the door they come through, the keeper."""
