"""A session's output: to the stream, the painter and the clients."""
