"""Plug-ins and a webhook, in processes that may hang without harm."""
