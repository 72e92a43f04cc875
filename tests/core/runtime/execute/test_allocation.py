"""Reuse of freed memory, in a separate process, because the setting holds for the whole process."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from tests.cli.running import ROOT

FAULTS = """
import resource, sys
import numpy as np
from tfg.core.runtime.execute.allocation import keep_freed_memory

keep_freed_memory(of_any_size=sys.argv[1] == "any")
for _ in range(4):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    array = np.ones(int(sys.argv[2]) << 20, np.uint8)
    del array
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other systems: only glibc is told")
@pytest.mark.parametrize("kind, size, is_kept", [("some", 16, True), ("some", 200, False), ("any", 200, True)])
def test_pages_are_asked_for_once(kind, size, is_kept):
    command = [sys.executable, "-c", FAULTS, kind, str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True)
    *_, last = map(int, done.stdout.split())
    pages = (size << 20) // 4096
    assert last < pages / 10 if is_kept else last > pages / 1000


RUNS = """
import resource
import numpy as np
from tfg import GraphBuilder, Session

b = GraphBuilder()
y = b.Placeholder(dtype="float32", shape=[1 << 20], name="x")
for _ in range(6):
    y = b.Cumsum(y, b.constant(np.int32(0)))
session, x = Session(b.graph, optimize="none"), np.ones(1 << 20, np.float32)
for _ in range(8):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    session.run(y.name, {"x:0": x})
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other systems: only glibc is told")
@pytest.mark.parametrize("chosen", [False, True])
def test_sessions_ask_for_pages_once_unless_the_user_has_chosen(chosen):
    choice = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"} if chosen else {}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run(
        [sys.executable, "-c", RUNS], stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True, env={**kept, **choice}
    )
    *_, last = map(int, done.stdout.split())
    pages = (4 << 20) // 4096
    assert last > pages / 1000 if chosen else last < pages / 10
