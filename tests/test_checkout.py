"""A checkout may be called anything, even like a module of the standard library that everything imports."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import tfg

ROOT = pathlib.Path(tfg.__file__).parent


@pytest.mark.slow
def test_tests_run_in_a_checkout_called_copy(tmp_path):
    checkout, packages = tmp_path / "copy", tmp_path / "packages"
    checkout.mkdir()
    packages.mkdir()
    for path in ROOT.iterdir():
        if not path.name.startswith("."):
            (checkout / path.name).symlink_to(path)
    (packages / "tfg").symlink_to(checkout)
    # -P: what is found from the root of the checkout is found because the project says so.
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_samples.py"]
    environment = os.environ | {"PYTHONPATH": str(packages)}
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
