"""Run the scenarios, four at a time; what fails is tried once more, alone.

Four on two cores, which is what the smallest machine has: a scenario mostly waits for
processes that wait for each other.
"""

import sys

from tools import tried_again

SCENARIOS = ("-m", "pytest", "-q", "tests/scenarios", "tests/painter")

if __name__ == "__main__":
    sys.exit(tried_again.run(SCENARIOS, "-n", "4"))
