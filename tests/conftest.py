"""Settings of libraries before tests import them, and notes on skipped tests.

TensorFlow as the oracle uses the default kernels: oneDNN's kernels depend on the machine, and some are wrong for halves.
gRPC is quiet, because gRPC's threads write into the standard error of programs that tests start.
"""

import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests import skips
from tfg.core.inference import inference

inference.MISFITS_ARE_FAULTS = True
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ.pop("TFG_ENGINE", None)
os.environ["GRPC_VERBOSITY"] = "NONE"
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", metavar="FILE", help="Write which tests ran and which were skipped for which reasons.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip slow tests, unless the expression of -m names them."""
    if "slow" not in config.option.markexpr:
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="takes long: -m slow runs it"))


def _skipped(reporter: Any) -> Iterator[tuple[str, str]]:
    """The tests and modules that were skipped, with the reasons."""
    for report in reporter.stats.get("skipped", ()):
        yield report.nodeid, " ".join(str(report.longrepr[2]).removeprefix("Skipped: ").split())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Make a skip that is not allowed an error."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # one of several processes, which reports to the first
        return
    if any(skips.refused(reason for _, reason in _skipped(reporter))) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    path = session.config.getoption("--outcomes")
    if path is not None:
        ran = (f"ran\t{report.nodeid}\n" for kind in ("passed", "failed") for report in reporter.stats.get(kind, ()))
        lines = (f"skipped\t{nodeid}\t{reason}\n" for nodeid, reason in _skipped(reporter))
        pathlib.Path(path).write_text("".join([*ran, *lines]), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reasons = [reason for _, reason in _skipped(terminalreporter)]
    if reasons:
        terminalreporter.write_line(skips.summary(reasons))
    for reason in skips.refused(reasons):
        terminalreporter.write_line(f"error: a skip for this reason is not in tests/skips.py: {reason}", red=True)
