"""Run the scenarios, four at a time; what fails is tried once more, alone.

Four on two cores, which is what the smallest machine has: a scenario mostly waits for
processes that wait for each other. Each worker begins with files of its own, so that
what a file sets up once is set up once, and takes from others when it is done.
"""

import sys

from tools import tried_again

SCENARIOS = ("-m", "pytest", "-q", "tests/scenarios", "tests/painter")

if __name__ == "__main__":
    sys.exit(tried_again.run(SCENARIOS, "-n", "4", "--dist", "worksteal"))
