"""`python -m holdfast.keeper` is the keeper."""

import sys

from holdfast.keeper.loop import main

if __name__ == "__main__":
    main(sys.argv[1:])
