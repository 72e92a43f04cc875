"""The suite of benchmarks, without TensorFlow and without a clock: what it can do, and what it makes of times."""

import pytest

from benchmarks import thresholds, works
from benchmarks.__main__ import Sample, figures, row


def test_medians_are_of_the_ratios_of_pairs():
    """Each pair is TensorFlow's sample and tfg's: what slows one pair down does not change its ratio."""
    times = [[(1.0, 2.0), (2.0, 2.0)], [(10.0, 20.0), (20.0, 20.0)], [(3.0, 1.0), (1.0, 3.0)]]
    found = figures([[Sample(*other, 4096), Sample(*own, 1024)] for other, own in times])
    assert (found["ratio"], found["cpu_ratio"], found["memory_ratio"]) == (2.0, 1.0, 0.25)
    assert (found["tfg_ms"], found["tensorflow_ms"], found["tfg_mib"]) == (2000.0, 3000.0, 1.0)
    assert row({"work": "w", **found}) == "| w | 2000.0 | 3000.0 | 2.00 | 1.00 | 0.25 |"
    assert row({"work": "w", **figures([[Sample(0.5, 0.5, 1024)]])}) == "| w | 500.0 |  |  |  |  |"


@pytest.mark.parametrize("of_variable", [False, True])
def test_a_chain_is_run_as_often_as_it_is_asked(of_variable, monkeypatch):
    monkeypatch.setattr(works, "CHAIN", 3)
    run = works.chain(of_variable, "tfg")
    assert [value.item() for value in run() + run()] == pytest.approx([1, 1])


def test_works_are_chosen_by_parts_of_their_names():
    assert {name for name, _ in works.chosen("resnet50 b")} == {"ResNet50 b1", "ResNet50 b8"}
    assert len(dict(works.chosen(None))) == len(works.works())


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(works, "FOLDER", tmp_path)
    with pytest.raises(works.Missing, match="ResNet50"):
        works.inference("ResNet50", 1, "tfg")


@pytest.mark.parametrize("threshold", thresholds.THRESHOLDS, ids=lambda threshold: threshold.what)
def test_thresholds_are_given_back(threshold, monkeypatch):
    monkeypatch.setattr(thresholds, "RUNS", 1)
    before = getattr(threshold.module, threshold.name)
    assert all(seconds > 0 for seconds in thresholds.measured(threshold))
    assert getattr(threshold.module, threshold.name) is before
