"""The same words without `await`, for programs that block."""

import sys

import holdfast


def main(command: str) -> int:
    """Start a shell, run the command, show what it printed."""
    with holdfast.sync.connect() as host:
        session = host.create("bash")
        with session, session.turn():
            done = session.run(command)
        session.end()
    print(done.output, end="")
    return done.status or 0


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
