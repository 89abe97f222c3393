"""Connections of a holder: clients and their authentication, the keeper."""
