"""Run the checks of a change; .ci/run and the pre-commit hooks use this list of checks.

usage: check.py [CHECK ...]        default: lint, format, types and tests; house has the tests of the whole code
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HOUSE = ("tests/test_architecture.py", "tests/test_derived.py", "tests/test_docs.py", "tests/test_skips.py")
CHECKS = {
    "lint": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "types": ("scripts.check_types",),
    "tests": ("pytest", "-q", "-n", "2"),
    # What no change of one file shows: who may import whom, and whether all that is derived is up to date.
    "house": ("pytest", "-q", "-m", "slow or not slow", *HOUSE),
}
DEFAULT = ("lint", "format", "types", "tests")


def main() -> int:
    """Run every check, also after a failed check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", default=DEFAULT, metavar="CHECK", help=", ".join(CHECKS))
    failed = []
    for name in parser.parse_args().checks:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", *CHECKS[name]], cwd=ROOT).returncode:
            failed.append(name)
    print("\nfailed: " + ", ".join(failed) if failed else "\nall is well")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
