"""`python -m holdfast.keeper` is the keeper."""

from holdfast.keeper.loop import main

if __name__ == "__main__":
    main()
