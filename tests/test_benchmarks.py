"""The benchmark suite without TensorFlow and without a clock: the works, and the statistics of times."""

import pytest

from benchmarks import thresholds, works
from benchmarks.__main__ import Sample, figures, row

WAYS = ("tensorflow", "numpy", "xla")


def test_medians_are_of_the_ratios_of_rounds():
    """Each round has a sample of every way: load that slows a round down does not change the round's ratios."""
    times = [[(1.0, 2.0), (2.0, 2.0)], [(10.0, 20.0), (20.0, 20.0)], [(3.0, 1.0), (1.0, 3.0)]]
    numbers = figures([{"tensorflow": Sample(*a, 4096), "numpy": Sample(*b, 1024)} for a, b in times])
    own = numbers["numpy"]
    assert (own["ratio"], own["cpu_ratio"], own["memory_ratio"]) == (2.0, 1.0, 0.25)
    assert (own["ms"], own["mib"], numbers["tensorflow"]["ms"]) == (2000.0, 1.0, 3000.0)
    assert row("w", numbers, WAYS) == "| w | 3000.0 (2000.0) | 2.00 (1.00) |  |"


def test_what_was_kept_stands_beside_its_ratio():
    numbers = figures([{"tensorflow": Sample(2.0, 4.0, 1), "xla": Sample(1.0, 1.0, 1, "numpy")}])
    assert row("w", numbers, WAYS) == "| w | 2000.0 (4000.0) |  | 0.50 (0.25) numpy |"
    assert row("w", figures([{"numpy": Sample(0.5, 0.25, 1024)}]), WAYS) == "| w |  | 500.0 (250.0) |  |"


@pytest.mark.parametrize("of_variable", [False, True])
def test_a_chain_is_run_as_often_as_it_is_asked(of_variable, monkeypatch):
    monkeypatch.setattr(works, "CHAIN", 3)
    run = works.chain(of_variable, "numpy")
    assert [value.item() for value in run() + run()] == pytest.approx([1, 1])


def test_works_are_chosen_by_parts_of_their_names():
    assert {name for name, _ in works.chosen("resnet50 b")} == {"ResNet50 b1", "ResNet50 b8"}
    assert len(dict(works.chosen(None))) == len(works.works())


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(works, "FOLDER", tmp_path)
    with pytest.raises(works.Missing, match="ResNet50"):
        works.inference("ResNet50", 1, "numpy")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("threshold", thresholds.THRESHOLDS, ids=lambda threshold: threshold.what)
def test_thresholds_are_given_back(threshold, monkeypatch):
    monkeypatch.setattr(thresholds, "RUNS", 1)
    before = getattr(threshold.module, threshold.name)
    assert all(seconds > 0 for seconds in thresholds.measured(threshold))
    assert getattr(threshold.module, threshold.name) is before
