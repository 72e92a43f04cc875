"""CSV of every command: quantities are numbers, and units stand in the names of columns."""

from __future__ import annotations

import csv
import io
import pathlib
import re

import pytest

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run

XOR = SAMPLES / "xor.pbtxt"
FEEDS = ("--init", "--feed", "x=[[0, 0], [1, 1]]", "--feed", "y=[[0], [1]]")
SCALER = SAMPLES / "scaler_saved_model"
RECORDINGS = pathlib.Path(__file__).parents[1] / "formats" / "recorded" / "recordings"
COMMANDS = {
    "flops": ("flops", XOR), "flops scope": ("flops", XOR, "--view", "scope"),
    "flops layer": ("flops", XOR, "--view", "layer"),
    "flops batch": ("flops", XOR, "--batch", "1000", "--view", "node"),
    "flops variables": ("flops", XOR, "--fetch", "loss", "--per-variable", "--batch", "5000"),
    "flops tfprof": ("flops", XOR, "--compat", "tfprof", "--batch", "5000"),
    "flops measured": ("flops", XOR, "--fetch", "loss", "--measured", "--runs", "1", *FEEDS),
    "flops times": ("flops", RECORDINGS / "run_metadata", "--run-metadata", RECORDINGS / "run_metadata"),
    "optimize": ("optimize", XOR, "--fetch", "loss", "-o", "{}/x.pb"),
    "optimize rounds": ("-v", "optimize", XOR, "--fetch", "loss", "-o", "{}/x.pb"),
    "optimize weights": ("optimize", SAMPLES / "keras_classifier", "-o", "{}/x.pb",
                         "--passes", "quantize_weights{{minimum_size=1}}"),
    "explain": ("explain", XOR), "explain model": ("explain", SCALER), "explain events": ("explain", RECORDINGS / "events_v2"),
    "explain partition": ("explain", XOR, "--partition", "--fetch", "loss"), "dump": ("dump", XOR), "samples": ("samples",),
    "checkpoint": ("checkpoint", SCALER), "checkpoint statistics": ("checkpoint", SCALER, "--stats"),
    "checkpoint values": ("checkpoint", SCALER, "--values", "scale"),
    "checkpoint compare": ("checkpoint", SCALER, "--compare", SCALER / "variables" / "variables"),
    "grad": ("grad", XOR, "--y", "loss", "--x", "hidden/kernel", "--check", *FEEDS),
    "train": ("train", XOR, "--loss", "loss", "--steps", "2", *FEEDS), "ops": ("ops",), "op": ("ops", "MatMul"),
    "run": ("run", XOR, "--fetch", "loss", *FEEDS),
}  # fmt: skip
DISPLAYED = re.compile(r"[-+]?[0-9][0-9.]*( ?(%|[kKMGTP]?i?B|bytes?|ms|us|s|[kMGTP]( .*)?|-> .*))|[0-9]{1,3}(,[0-9]{3})+")
"""A number as people read it: with a unit, a metric prefix, a percent sign, separators of thousands or an arrow."""


def tables(words):
    """Yield the text of each table of a command."""
    done = run(*words, "--format", "csv")
    several = re.search(r"but the command prints [0-9]+: (.*)", done.err)
    if several is None:
        assert done.code in (0, 3), done.err
        yield done.out
    for name in several[1].split(", ") if several is not None else ():
        part = run(*words, "--format", "csv", "--table", name)
        assert part.code in (0, 3), part.err
        yield part.out


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", COMMANDS)
def test_quantities_of_csv_are_numbers(name, tmp_path):
    """The table of facts of `explain` holds sentences."""
    words = [str(word).format(tmp_path) if "{" in str(word) else word for word in COMMANDS[name]]
    for text in tables(words):
        header, *rows = list(csv.reader(io.StringIO(text))) or [[]]
        assert all(header), f"a column without a name: {header}"
        if header[:2] == ["fact", "value"]:
            continue
        for row in rows:
            assert len(row) == len(header)
            shown = {column: cell for column, cell in zip(header, row) if DISPLAYED.fullmatch(cell)}
            assert not shown, f"no numbers: {shown}"


def test_the_columns_of_a_measurement_are_numbers_in_their_units():
    """The product of (2, 2) and (2, 8) has 2 * 2 * 2 * 8 FLOPs."""
    words = ("flops", XOR, "--fetch", "MatMul", "--measured", "--runs", "1", *FEEDS[:3], "--view", "node", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(run(*words).out)))
    assert rows and {"ms", "share", "flops", "gflop/s", "of_peak", "flops/byte"} <= rows[0].keys()
    for row in rows:
        assert all(float(row[column]) >= 0 for column in ("calls", "ms", "share", "flops", "gflop/s", "of_peak"))
    assert max(int(row["flops"]) for row in rows) == 64
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1, abs=1e-3)
