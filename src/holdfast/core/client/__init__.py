"""A client's side of a conversation with a session, decided without I/O.

Each machine is told what came and what time it is, and answers what to send. Two thin
drivers carry the messages: one blocks (client.driver), one is for an event loop
(sdk.driver). The page's twin is web/src/protocol.
"""
