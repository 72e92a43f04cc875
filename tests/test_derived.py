"""Derived files in the repository are up to date; tests/test_docs.py checks the outputs of commands in docs/."""

from __future__ import annotations

import pathlib
import runpy
import subprocess
import sys

import pytest

import tfg

SCRIPT = pathlib.Path(tfg.__file__).parent / "scripts" / "regenerate.py"
HELD_ELSEWHERE = {"outputs"}
# Every version of rich draws another picture.
NOT_HELD = {"picture"}


@pytest.mark.slow
@pytest.mark.parametrize("part", sorted({*runpy.run_path(str(SCRIPT))["PARTS"]} - HELD_ELSEWHERE - NOT_HELD))
def test_is_up_to_date(part):
    """Otherwise the message names the command to run."""
    done = subprocess.run([sys.executable, str(SCRIPT), "--check", part], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == ""
