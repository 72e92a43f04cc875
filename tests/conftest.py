"""Settings of libraries before tests import them, and notes on skipped tests.

TensorFlow as the oracle uses the default kernels: oneDNN's kernels depend on the machine, and some are wrong for halves.
gRPC is quiet, because gRPC's threads write into the standard error of programs that tests start.
"""

import gc
import os
import pathlib
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import hypothesis
import pytest

import tfg
from tests import skips
from tfg.core.inference import inference

inference.MISFITS_ARE_FAULTS = True
# A busy machine draws slowly: no test decides by wall time.
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TFG_ENGINE"] = "numpy"  # so that no engine is tried in long tests
os.environ["TFG_CACHE"] = "none"  # so that no test knows the choices of another; programs of XLA lie apart
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(pathlib.Path.home() / ".cache" / "tfg" / "xla"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ["GRPC_VERBOSITY"] = "NONE"
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"


def pytest_configure() -> None:
    """Refuse to test another checkout: an environment that several checkouts share imports the one that it installed."""
    imported, tested = (pathlib.Path(path).parent.resolve() for path in (tfg.__file__, pathlib.Path(__file__).parent))
    if imported != tested:
        raise pytest.UsageError(f"tfg is imported from {imported}: install this checkout, by `pip install -e '.[test]'`")


LEFT: pytest.StashKey[dict[str, int]] = pytest.StashKey()
LEFT_OUT = ("slow", "growth", "engine", "live")
"""Marks of tests that run only where -m names the mark."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", metavar="FILE", help="Write which tests ran and which were skipped for which reasons.")
    parser.addoption("--op", action="append", metavar="NAME", help="Run only the tests of this op; repeatable.")


def pytest_ignore_collect(collection_path: pathlib.Path, config: pytest.Config) -> bool | None:
    """Import only files that can have a chosen test, so that the tests of an op, and the steps of `.ci/run`, start at once."""
    marks = ["ops"] if config.getoption("--op") else _needed_marks(config.option.markexpr)
    if not marks or not (collection_path.name.startswith("test_") and collection_path.suffix == ".py"):
        return None
    return not _names_one(collection_path.read_text(encoding="utf-8"), marks) or None


def _needed_marks(expression: str) -> list[str]:
    """The marks of LEFT_OUT one of which a test needs to be chosen by -m; none where a test without marks is chosen too."""
    if not expression or eval(expression, {"__builtins__": {}}, dict.fromkeys(LEFT_OUT, False)):
        return []
    return [mark for mark in LEFT_OUT if mark in expression]


def _names_one(text: str, marks: Collection[str]) -> bool:
    names = [*marks, "sampled"] if "slow" in marks else marks
    return any(f"mark.{name}" in text for name in names)


def _refuse_unnamed(items: Collection[pytest.Item], mark: str) -> None:
    """UsageError where a file has tests with a mark that its text does not name: with -m it would not be imported."""
    for path in {item.path for item in items}:
        if not _names_one(path.read_text(encoding="utf-8"), [mark]):
            raise pytest.UsageError(f"{path} has tests with the mark {mark}, which the file itself has to name")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test with the argument `cases` an item for each op, with all cases of the op.

    `single=True` keeps cases of the op alone, and `where=` the cases for which a function is true. `half=0` or `half=1` keeps
    every second of many cases, for two tests that share them out; with --op both have all.
    """
    if "cases" not in metafunc.fixturenames or (mark := metafunc.definition.get_closest_marker("ops")) is None:
        return
    metafunc.parametrize("cases", _of_ops(metafunc.config.getoption("--op"), **mark.kwargs))


FEW_CASES = 6


def _of_ops(asked: Collection[str] | None, single: bool = False, where: Any = None, half: int | None = None) -> list[Any]:
    from tests import opcases  # not needed for other tests

    chosen = {
        op: [pair for pair in pairs if (pair[1].is_single_op or not single) and (where is None or where(pair[1]))]
        for op, pairs in opcases.by_op().items()
        if asked is None or op in asked
    }
    if half is not None and asked is None:
        chosen = {op: pairs[half::2] if len(pairs) > FEW_CASES else pairs for op, pairs in chosen.items()}
    return [pytest.param(pairs, id=op) for op, pairs in chosen.items() if pairs]


def _mark_samples(items: Collection[pytest.Item]) -> None:
    """Mark the items of a test as slow, except for one of as many as `@pytest.mark.sampled(MANY)` says."""
    seen: Counter[str] = Counter()
    for item in items:
        if (mark := item.get_closest_marker("sampled")) is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1


def _cases(item: pytest.Item) -> Any:
    assert isinstance(item, pytest.Function)
    return item.callspec.params["cases"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests with a mark of LEFT_OUT, unless the expression of -m names the mark."""
    if config.getoption("--op"):
        # A test whose cases are of other ops has an item without cases, which pytest would report as skipped.
        items[:] = [item for item in items if item.get_closest_marker("ops") and isinstance(_cases(item), list)]
    else:
        _mark_samples(items)
    left: dict[str, int] = {}
    for mark in LEFT_OUT:
        if mark not in config.option.markexpr:
            marked = [item for item in items if item.get_closest_marker(mark)]
            items[:] = [item for item in items if not item.get_closest_marker(mark)]
            _refuse_unnamed(marked, mark)
            config.hook.pytest_deselected(items=marked)
            left[mark] = len(marked)
    config.stash[LEFT] = left


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the collector of garbage from the tests themselves, which stay to the end: each time it would walk all of them."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Divide the tests among the processes; one that is done takes from another, which may have long ones left."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the numbers from a process of pytest-xdist, which collects the tests in place of this process."""
    node.config.stash[LEFT] = getattr(node, "workeroutput", {}).get("left", {})  # a process that crashed has no output


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Keep reports to what can be sent between processes: a message may hold bytes of a name that are no UTF-8."""
    report: Any = yield
    report.sections = [(name, _sendable(text)) for name, text in report.sections]
    if report.failed and _sendable(text := str(report.longrepr)) != text:
        report.longrepr = _sendable(text)
    return report


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _skipped(reporter: Any) -> Iterator[tuple[str, str]]:
    """The tests and modules that were skipped, with the reasons."""
    for report in reporter.stats.get("skipped", ()):
        yield report.nodeid, " ".join(str(report.longrepr[2]).removeprefix("Skipped: ").split())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Make a skip that is not allowed an error."""
    if hasattr(session.config, "workeroutput"):  # one of several processes, which reports to the first
        session.config.workeroutput["left"] = session.config.stash.get(LEFT, {})
        return
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if any(skips.refused(reason for _, reason in _skipped(reporter))) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    path = session.config.getoption("--outcomes")
    if path is not None:
        ran = (f"ran\t{report.nodeid}\n" for kind in ("passed", "failed") for report in reporter.stats.get(kind, ()))
        lines = (f"skipped\t{nodeid}\t{reason}\n" for nodeid, reason in _skipped(reporter))
        pathlib.Path(path).write_text("".join([*ran, *lines]), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left = {mark: count for mark, count in config.stash.get(LEFT, {}).items() if count}
    if left:
        parts = ", ".join(f"{count:,} by `-m {mark}`" for mark, count in left.items())
        terminalreporter.write_line(f"left to .ci/run: {parts}")
    reasons = [reason for _, reason in _skipped(terminalreporter)]
    if reasons:
        terminalreporter.write_line(skips.summary(reasons))
    for reason in skips.refused(reasons):
        terminalreporter.write_line(f"error: a skip for this reason is not in tests/skips.py: {reason}", red=True)
