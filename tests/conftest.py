"""Settings of libraries before tests import them, and notes on skipped tests.

TensorFlow as the oracle uses the default kernels: oneDNN's kernels depend on the machine, and some are wrong for halves.
gRPC is quiet, because gRPC's threads write into the standard error of programs that tests start.
"""

import gc
import os
import pathlib
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
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


def _sync(descriptor: Any) -> None:
    """Do not wait for the disk, which no test switches off: some milliseconds for each written file."""
    if not stat.S_ISREG(mode := os.fstat(descriptor).st_mode) and not stat.S_ISDIR(mode):
        _fsync(descriptor)  # an error for most


_fsync, os.fsync = os.fsync, _sync


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to test another checkout: an environment that several checkouts share imports the one that it installed."""
    imported, tested = (pathlib.Path(path).parent.resolve() for path in (tfg.__file__, pathlib.Path(__file__).parent))
    if imported != tested:
        raise pytest.UsageError(f"tfg is imported from {imported}: install this checkout, by `pip install -e '.[test]'`")
    config.stash[LEFT] = {"tests": Counter(), "items of other tests": Counter()}


LEFT: pytest.StashKey[dict[str, Counter[str]]] = pytest.StashKey()
"""How many tests, and items of the other tests, each mark left out."""
LEFT_OUT = ("slow", "growth", "engine", "live")
"""Marks of tests that run only where -m names the mark."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", metavar="FILE", help="Write which tests ran and which were skipped for which reasons.")
    parser.addoption("--half", type=int, choices=(0, 1), help="Run every second item of sweeps, from the first or second on.")
    parser.addoption("--op", action="append", metavar="NAME", help="Run only the tests of this op; repeatable.")


def pytest_ignore_collect(collection_path: pathlib.Path, config: pytest.Config) -> bool | None:
    """Import only files that can have a chosen test, so that the tests of an op, and the steps of `.ci/run`, start at once."""
    if not (collection_path.name.startswith("test_") and collection_path.suffix == ".py"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    marks = ["ops"] if config.getoption("--op") else _needed_marks(config.option.markexpr)
    if marks and not _names_one(text, marks):
        return True
    of_file = re.search(r"^pytestmark = \[?\s*pytest\.mark\.(\w+)", text, re.MULTILINE)
    if of_file is None or (mark := _left_out(config, [of_file[1]])) is None:
        return None
    folders = (pathlib.Path(argument.partition("::")[0]).absolute() for argument in config.args)
    if any(collection_path.is_relative_to(folder) for folder in folders):  # asked for, and not a file beside one
        config.stash[LEFT]["tests"][mark] += len(re.findall(r"^def test_", text, re.MULTILINE))
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module, name: str, obj: Any) -> list[pytest.Item] | None:
    """Make no items of a test that is left out: most of the time of the collection goes into items."""
    marks = getattr(obj, "pytestmark", []) if name.startswith("test_") else []
    if (mark := _left_out(collector.config, [mark.name for mark in marks])) is None:
        return None
    _refuse_unnamed([collector.path], mark)
    collector.config.stash[LEFT]["tests"][mark] += 1
    return []


def _left_out(config: pytest.Config, marks: Iterable[str]) -> str | None:
    """The mark by which a test with `marks` is left out, as the expression of -m does not name it."""
    return next((mark for mark in marks if mark in LEFT_OUT and mark not in config.option.markexpr), None)


def _needed_marks(expression: str) -> list[str]:
    """The marks of LEFT_OUT one of which a test needs to be chosen by -m; none where a test without marks is chosen too."""
    if not expression or eval(expression, {"__builtins__": {}}, dict.fromkeys(LEFT_OUT, False)):
        return []
    return [mark for mark in LEFT_OUT if mark in expression]


def _names_one(text: str, marks: Collection[str]) -> bool:
    names = [*marks, "sampled"] if "slow" in marks else marks
    return any(f"mark.{name}" in text for name in names)


def _refuse_unnamed(paths: Iterable[pathlib.Path], mark: str) -> None:
    """UsageError where a file has tests with a mark that its text does not name: with -m it would not be imported."""
    for path in set(paths):
        if not _names_one(path.read_text(encoding="utf-8"), [mark]):
            raise pytest.UsageError(f"{path} has tests with the mark {mark}, which the file itself has to name")


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Make no items that `sampled` leaves out, unless a test is asked for by name, and with `cases` an item for each op."""
    _add_cases(metafunc)
    yield
    config, mark = metafunc.config, metafunc.definition.get_closest_marker("sampled")
    if mark is not None and not (config.getoption("--op") or _makes_all_items(config)):
        # Two of three items are of samples: to make them and put them away took a tenth of the time of a run.
        calls = metafunc._calls
        kept = calls[:: mark.args[0]]
        config.stash[LEFT]["items of other tests"]["slow"] += len(calls) - len(kept)
        calls[:] = kept


def _makes_all_items(config: pytest.Config) -> bool:
    """Whether items that `sampled` leaves out are made and marked, as they may be asked for by the mark or by name."""
    return "slow" in config.option.markexpr or any("::" in argument for argument in config.args)


def _add_cases(metafunc: pytest.Metafunc) -> None:
    """Give a test with the argument `cases` an item for each op, with all cases of the op.

    `single=True` keeps cases of the op alone, and `where=` the cases for which a function is true. Two tests share out the
    cases: by `half=0` and `half=1` each has every second of many cases, by `first=4` and `after=4` one has four of each op
    and the other the rest. With --op both have all.
    """
    if "cases" not in metafunc.fixturenames or (mark := metafunc.definition.get_closest_marker("ops")) is None:
        return
    metafunc.parametrize("cases", _of_ops(metafunc.config.getoption("--op"), **mark.kwargs))


FEW_CASES = 6


def _of_ops(asked: Collection[str] | None, single: bool = False, where: Any = None, **shares: Any) -> list[Any]:
    from tests import opcases  # not needed for other tests

    chosen = {
        op: [pair for pair in pairs if (pair[1].is_single_op or not single) and (where is None or where(pair[1]))]
        for op, pairs in opcases.by_op().items()
        if asked is None or op in asked
    }
    if asked is None:
        chosen = {op: _share(pairs, **shares) for op, pairs in chosen.items()}
    return [pytest.param(pairs, id=op) for op, pairs in chosen.items() if pairs]


def _share(pairs: list[Any], half: int | None = None, first: int | None = None, after: int = 0) -> list[Any]:
    return pairs[half::2] if half is not None and len(pairs) > FEW_CASES else pairs[after:first]


def _mark_samples(items: Collection[pytest.Item]) -> None:
    """Mark the items of a test as slow, except for one of as many as `@pytest.mark.sampled(MANY)` says."""
    seen: Counter[str] = Counter()
    for item in items:
        if (mark := item.get_closest_marker("sampled")) is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1


def _half_of(items: Collection[pytest.Item], half: int) -> Iterator[pytest.Item]:
    """Yield every second item of each sweep, and all items of other tests."""
    seen: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if seen[test] % 2 == half or not (item.get_closest_marker("sampled") or item.get_closest_marker("ops")):
            yield item
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
    elif _makes_all_items(config):
        _mark_samples(items)
    if (half := config.getoption("--half")) is not None:
        kept = list(_half_of(items, half))
        config.hook.pytest_deselected(items=list(set(items).difference(kept)))
        items[:] = kept
    for mark in LEFT_OUT:
        if mark not in config.option.markexpr:
            marked = [item for item in items if item.get_closest_marker(mark)]
            items[:] = [item for item in items if not item.get_closest_marker(mark)]
            _refuse_unnamed((item.path for item in marked), mark)
            config.hook.pytest_deselected(items=marked)
            config.stash[LEFT]["items of other tests"][mark] += len(marked)


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
    left = getattr(node, "workeroutput", {}).get("left", {})  # a process that crashed has no output
    node.config.stash[LEFT] = {kind: Counter(counts) for kind, counts in left.items()}


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
        session.config.workeroutput["left"] = {kind: dict(counts) for kind, counts in session.config.stash[LEFT].items()}
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
    left = {
        kind: ", ".join(f"{count:,} by `-m {mark}`" for mark, count in counts.most_common() if count)
        for kind, counts in config.stash[LEFT].items()
    }
    if any(left.values()):
        parts = "; ".join(f"{kind}: {counts}" for kind, counts in left.items() if counts)
        terminalreporter.write_line(f"left to .ci/run: {parts}")
    reasons = [reason for _, reason in _skipped(terminalreporter)]
    if reasons:
        terminalreporter.write_line(skips.summary(reasons))
    for reason in skips.refused(reasons):
        terminalreporter.write_line(f"error: a skip for this reason is not in tests/skips.py: {reason}", red=True)
