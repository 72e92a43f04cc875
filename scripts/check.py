"""Run the checks of a change; .ci/run and the pre-commit hooks use this list of checks.

usage: check.py [CHECK ...]        default: lint, format, types and tests; house has the tests of the
                                   whole code, quick has less than two minutes of tests
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LONG = (
    *("tests/core/ops/test_ops.py", "tests/core/gradients/test_op_gradients.py", "tests/core/passes/test_accuracy.py"),
    *("tests/core/datasets/test_ahead.py", "tests/core/runtime/session/test_concurrent_runs.py"),
    *("tests/formats/cluster/test_tasks.py", "tests/formats/api/test_client.py", "tests/formats/api/test_real_notebook.py"),
)
"""The longest tests: recorded cases of all ops, waits for threads and tasks, type checkers, notebooks."""
PYTEST = ("pytest", "-q", "-m", "not live")
CHECKS = {
    "lint": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "types": ("scripts.check_types",),
    "tests": (*PYTEST, "-n", "2"),
    # The kernels, passes and formats, without engines and the longest tests.
    "quick": (
        *("pytest", "-q", "-m", "not live and not engine"),
        *("-n", "2", "tests/core", "tests/formats", *(f"--ignore={path}" for path in LONG)),
    ),
    # What no change of one file shows: who may import whom, and whether all that is derived is up to date.
    "house": (*PYTEST, "tests/test_architecture.py", "tests/test_derived.py", "tests/test_docs.py", "tests/test_skips.py"),
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
