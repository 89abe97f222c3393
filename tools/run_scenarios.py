"""Run the scenarios, two at a time; what fails is tried once more, alone."""

import sys

from tools import tried_again

SCENARIOS = ("-m", "pytest", "-q", "tests/scenarios", "tests/painter")

if __name__ == "__main__":
    sys.exit(tried_again.run(SCENARIOS, "-n", "2"))
