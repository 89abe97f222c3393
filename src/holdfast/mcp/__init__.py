"""The MCP server: live sessions as tools for AI agents of any vendor.

It is an operator like any other, with a key and an envelope of its own, and can do
nothing that the SDK cannot.
"""
