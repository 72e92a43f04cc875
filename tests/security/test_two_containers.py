"""Writers that have one process number, as the first processes of two containers have, and that write one file."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import tfg

_WRITER = """
import sys, numpy as np, tfg
for number in range(20):
    tfg.write_checkpoint(sys.argv[1], {f"v{i}": np.full(5000, float(sys.argv[2])) for i in range(4)})
"""


def in_namespaces(*command: str) -> list[str]:
    """Return a command that runs as process 1 of a container: without the numbers of other processes."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        pytest.skip("the program 'unshare' is not installed")
    unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("this system has no namespaces for this user")
    return [*unshare, *command]


@pytest.mark.slow
def test_two_containers_write_one_checkpoint(tmp_path):
    prefix = str(tmp_path / "c")
    writers = [
        subprocess.Popen(in_namespaces(sys.executable, "-P", "-c", _WRITER, prefix, number), stderr=subprocess.PIPE)
        for number in ("1", "2")
    ]
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [(b"", 0)] * 2
    values = {value for array in tfg.read_checkpoint(prefix).values() for value in np.unique(array).tolist()}
    assert values in ({1.0}, {2.0})
    assert not list(pathlib.Path(tmp_path).glob("*.tmp"))
