"""Choices of `auto` that a later process takes over: which, when, and from which files."""

from __future__ import annotations

import concurrent.futures
import os
import stat

import numpy as np
import pytest

import tfg
from tests.core.engines.fake_engine import FakeEngine
from tests.core.engines.test_plan_division import chain
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines import automatic, engine_runtime, remembered_choices
from tfg.core.engines.automatic import AutoRuntime
from tfg.core.engines.engine_runtime import EngineSettings
from tfg.core.engines.reasons import Reason
from tfg.core.engines.remembered_choices import GroupChoice, RememberedChoice, read_choice, written_choice
from tfg.core.runtime.session.session import Session
from tfg.core.support import cache_folder, trials

X = {"x:0": np.float32([1, 2])}
RUNS = 30


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """A cache folder, trials of few runs, and engines that win whatever they take."""
    monkeypatch.setenv("TFG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(automatic, "TRIAL_SECONDS", 0.0)
    monkeypatch.setattr(engine_runtime, "PAIRS_SECONDS", 0.0)
    monkeypatch.setattr(engine_runtime, "PAIRED_GAIN", np.inf)
    monkeypatch.setattr(trials, "GAIN", np.inf)
    return tmp_path / "cache" / "choices"


def named(name, **options):
    engine = FakeEngine(**options)
    engine.name = name
    return engine


def process(graph, *engines, runs=RUNS, feeds=X, expected=(8, 27), versions="1", **options):
    """Run a graph as a process of its own does, and return the report."""
    remembered_choices.taken.clear()
    session = Session(graph, engine=AutoRuntime(engines=engines, patience=0.0, versions=versions, **options))
    for _ in range(runs):
        np.testing.assert_array_equal(session.run("y:0", feeds), expected)
    return session.engine_report()


def kept(report):
    return [(choice.kept, choice.is_remembered) for choice in report.choices]


def test_the_second_process_begins_in_the_fastest_way():
    assert kept(process(chain(), FakeEngine())) == [("fake", False)]
    engine = FakeEngine()
    report = process(chain(), engine, runs=2)
    assert (kept(report), engine.runs, len(engine.compiled)) == ([("fake", True)], 2, 1)
    assert report.groups[0].numpy_seconds is not None, "the time of the first process"


def test_sessions_that_come_and_go_compile_once():
    process(chain(), FakeEngine())
    engine, graph = FakeEngine(), chain()
    assert kept(process(graph, engine, runs=1)) == [("fake", True)]
    auto = AutoRuntime(engines=[engine], versions="1")
    for _ in range(3):
        Session(graph, engine=auto).run("y:0", X)
    assert len(engine.compiled) == 1


def test_a_way_that_lost_is_not_tried_again(monkeypatch):
    monkeypatch.setattr(trials, "GAIN", 0.0)
    assert kept(process(chain(), FakeEngine())) == [("numpy", False)]
    engine = FakeEngine()
    assert kept(process(chain(), engine)) == [("numpy", True)]
    assert engine.compiled == []


def test_a_later_process_tries_what_is_left_to_try():
    process(chain(), named("a"), named("b"), runs=26)
    a, b = named("a"), named("b")
    assert kept(process(chain(), a, b, runs=2)) == [("a", True)]
    assert (len(a.compiled), len(b.compiled)) == (1, 1)
    assert kept(process(chain(), named("a"), named("b"))) == [("b", False)]
    assert kept(process(chain(), named("a"), named("b"), runs=1)) == [("b", True)]


def two_groups(b):
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    first = b.Neg(b.AddV2(x, b.constant(np.float32(1))))
    between = b.Neg(first, name="between")
    return b.Mul(b.Square(between), between, name="y")


def test_a_group_left_to_numpy_stays_there():
    """The second group differs from NumPy, so no later process takes the engine's results."""
    for _ in range(2):
        b = GraphBuilder()
        two_groups(b)
        engine = FakeEngine(refused=["between"], wrong=["y:0"])
        report = process(b.graph, engine)
        assert kept(report)[0][0] == "fake"
        assert sum(group.reason is not None and "differs" in group.reason for group in report.groups) == 1
    assert len(engine.compiled) == 1


def test_groups_of_functions_are_remembered():
    """The group of `cube` differs from NumPy; a node of `more` has the same name."""
    compiled = []
    for _ in range(2):
        b = GraphBuilder()
        call = {"Tin": ["float32"], "Tout": ["float32"]}
        define(b, "more", ["float"], lambda f, a: [f.AddV2(a, f.constant(np.float32(1)), name="out")])
        define(b, "cube", ["float"], lambda f, a: [f.Mul(f.Square(a), a, name="cubed")])
        (more,) = b.StatefulPartitionedCall([b.Placeholder(dtype="float32", shape=[2], name="x")], f="more", name="m", **call)
        b.StatefulPartitionedCall([more], f="cube", name="y", **call)
        engine = FakeEngine(refused=["m", "y"], wrong=["cubed:0"])
        process(b.graph, engine)
        compiled.append([nodes[-1] for nodes in engine.compiled])
    assert compiled == [["out", "cubed"], ["out"]]


def with_constant(value):
    b = GraphBuilder()
    b.Mul(b.Placeholder(dtype="float32", shape=[2], name="x"), b.constant(np.float32(value)), name="y")
    return b.graph


def test_other_weights_are_another_program():
    process(with_constant([2, 2]), FakeEngine(), expected=[2, 4])
    assert kept(process(with_constant([2, 3]), FakeEngine(), runs=1, expected=[2, 6])) == [("numpy", False)]
    assert kept(process(with_constant([2, 2]), FakeEngine(), runs=1, expected=[2, 4])) == [("fake", True)]


@pytest.mark.parametrize("other", [{"versions": "2"}, {"precision": "bf16"}, {"versions": None}])
def test_other_versions_and_types_decide_anew(other):
    process(chain(), FakeEngine())
    assert kept(process(chain(), FakeEngine(), runs=1, **other)) == [("numpy", False)]


def test_other_machines_and_shapes_decide_anew(monkeypatch):
    b = GraphBuilder()
    b.Neg(b.Placeholder(dtype="float32", shape=[None], name="x"), name="y")
    one, two = ({"feeds": {"x:0": np.ones(size)}, "expected": -np.ones(size)} for size in (1, 2))
    process(b.graph, FakeEngine(), **one)
    assert kept(process(b.graph, FakeEngine(), runs=1, **one)) == [("fake", True)]
    assert kept(process(b.graph, FakeEngine(), runs=1, **two)) == [("numpy", False)]
    monkeypatch.setattr(remembered_choices, "machine", lambda: "another")
    assert kept(process(b.graph, FakeEngine(), runs=1, **one)) == [("numpy", False)]


def test_a_check_of_engines_takes_no_choice_over():
    process(chain(), FakeEngine())
    report = process(chain(), FakeEngine(), runs=1, settings=EngineSettings(verify=True))
    assert kept(report) == [("numpy", False)]


def test_an_engine_that_is_gone_is_not_taken():
    process(chain(), FakeEngine())
    assert kept(process(chain(), named("other"), runs=1)) == [("numpy", False)]


CHOICE = RememberedChoice(
    "y:0", "[2]", "a", {"numpy": 2.0, "a": 1.0}, ("b",),
    {"1": GroupChoice((2.0, 1.0)), "2": GroupChoice((None, 1.0), Reason("it is slow", "wait"))},
)  # fmt: skip


def test_an_entry_is_read_as_it_was_written():
    read = read_choice(written_choice(CHOICE, "n"), "n")
    assert read == CHOICE
    assert read.groups["2"].reason.step == "wait"
    assert read_choice(written_choice(CHOICE, "n"), "another") is None


def test_a_damaged_entry_is_no_choice(cache):
    whole = written_choice(CHOICE, "n")
    for size in range(len(whole)):
        assert read_choice(whole[:size], "n") is None
    for old, new in [
        (b'"a"', b"[1]"), (b'"seconds"', b'"second"'), (b'"form": 1', b'"form": 2'), (b'["b"]', b"7"), (b'"it is slow"', b"3"),
        (b"2.0", b'"x"'), (b'"pending": [', b'"pending": [[], '), (b"[null", b"[[]"), (whole, b"[" * 100_000), (b"y", b"\xff"),
    ]:  # fmt: skip
        assert old in whole
        assert read_choice(whole.replace(old, new), "n") is None, new
    process(chain(), FakeEngine())
    (entry,) = cache.iterdir()
    entry.write_bytes(b"{}")
    assert kept(process(chain(), FakeEngine(), runs=1)) == [("numpy", False)]


def test_an_entry_of_others_is_not_read(cache, monkeypatch):
    process(chain(), FakeEngine())
    (entry,) = cache.iterdir()
    elsewhere = cache.parent / "elsewhere"
    entry.rename(elsewhere)
    entry.symlink_to(elsewhere)
    assert kept(process(chain(), FakeEngine(), runs=1)) == [("numpy", False)]
    elsewhere.replace(entry)
    assert kept(process(chain(), FakeEngine(), runs=1)) == [("fake", True)]
    if hasattr(os, "geteuid"):
        monkeypatch.setattr(os, "geteuid", lambda: os.stat(entry).st_uid + 1)
        assert cache_folder.read_entry(str(cache), entry.name) is None
        assert cache_folder.own_folder("choices") is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permissions of this kind")
def test_the_folder_is_closed_to_others(cache):
    cache.mkdir(parents=True, mode=0o777)
    process(chain(), FakeEngine())
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


@pytest.mark.parametrize("place", ["none", "file", "read-only"])
def test_a_process_that_cannot_remember_runs_all_the_same(place, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TFG_CACHE", {"none": "none", "file": str(tmp_path / "file"), "read-only": "/proc/tfg"}[place])
    for _ in range(2):
        assert kept(process(chain(), FakeEngine())) == [("fake", False)]
    assert not os.path.exists("none")


def test_a_strangers_graph_leaves_no_trace(cache, tmp_path):
    tfg.save(chain(), tmp_path / "graph.pb")
    process(tfg.load(tmp_path / "graph.pb", untrusted=True), FakeEngine())
    assert not cache.exists()


def test_the_oldest_entries_go_first(cache, monkeypatch):
    monkeypatch.setattr(cache_folder, "MOST_ENTRIES", 3)
    folder = cache_folder.own_folder("choices")
    for number in range(5):
        cache_folder.write_entry(folder, str(number), b"")
        os.utime(cache / str(number), (number, number))
    cache_folder.write_entry(folder, "5", b"")
    assert sorted(os.listdir(cache)) == ["3", "4", "5"]
    cache_folder.write_entry(folder, "large", bytes(cache_folder.MOST_BYTES + 1))
    assert "large" not in os.listdir(cache)


def test_writers_and_readers_at_a_time_see_whole_entries(cache, monkeypatch):
    monkeypatch.setattr(cache_folder, "MOST_ENTRIES", 2)
    folder, contents = cache_folder.own_folder("choices"), [bytes([number]) * 1000 for number in range(4)]

    def work(number):
        for turn in range(10):
            cache_folder.write_entry(folder, str(turn % 3), contents[number])
            read = cache_folder.read_entry(folder, str(turn % 3))
            assert read is None or read in contents
            cache_folder.cached_files(folder)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
