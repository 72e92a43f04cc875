"""What became of the tests in the steps of .ci/run.

usage: outcomes.py left STEPS FILE ...      print the tests that were skipped and that these steps have to run
       outcomes.py check STEPS FILE ...     exit with 1 where a skipped test ran in no step, but for what STEPS would run

STEPS has spaces between names; each FILE is one that the option --outcomes of the tests wrote.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests import skips


class Outcomes:
    """The tests that ran in some step, and those that were skipped with the reason.

    Tests that a mark leaves out are in neither: the steps `slow` and `growth` run all tests with their marks.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self.ran: set[str] = set()
        self.skipped: dict[str, str] = {}
        for path in paths:
            for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
                outcome, nodeid, *reason = line.split("\t")
                if outcome == "ran":
                    self.ran.add(nodeid)
                else:
                    self.skipped.setdefault(nodeid, reason[0])
        self.files = {nodeid.partition("::")[0] for nodeid in self.ran}

    def never(self) -> list[str]:
        """The reasons of the tests, and of modules as a whole, that ran in no step so far."""
        return [self.skipped[nodeid] for nodeid in self._never()]

    def left(self) -> dict[str, str]:
        """The tests, and modules as a whole, that ran in no step so far, each with the step that has to run it."""
        return {nodeid: step for nodeid in self._never() if (step := _step(self.skipped[nodeid]))}

    def _never(self) -> list[str]:
        return [nodeid for nodeid in self.skipped if nodeid not in (self.ran if "::" in nodeid else self.files)]


def _step(reason: str) -> str | None:
    """Return the step that has to run a test skipped for a reason; None where no step does."""
    allowed = skips.allowance(reason)
    return allowed.step if allowed is not None else None


def main(mode: str, steps: str, *paths: str) -> int:
    outcomes = Outcomes(paths)
    left = outcomes.left()
    if mode == "left":
        print("\n".join(nodeid for nodeid, step in left.items() if step in steps.split()))
        return 0
    missed = {nodeid: step for nodeid, step in left.items() if step not in steps.split()}
    for nodeid, step in missed.items():
        print(f"error: {nodeid} ran in no step, not even in '{step}': {outcomes.skipped[nodeid]}")
    print("in all steps together " + skips.summary(outcomes.never()))
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
