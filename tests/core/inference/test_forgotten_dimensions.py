"""Test graphs again with dimensions, ranks and values forgotten at random: inferred facts hold for every value of a run."""

from __future__ import annotations

import pathlib
import random
from collections.abc import Sequence

import pytest

import tfg
from tests import opcases
from tests.cli.running import SAMPLES
from tests.core.inference.forgetting import forgotten, hold
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.feeding.drawn_feeds import Feeds
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import TfgError
from tfg.formats.api.outputs import default_runs
from tfg.formats.api.prepared_sessions import local_session


def has_shapes(case: opcases.Case) -> bool:
    """Return False for an `unshaped` case: TensorFlow runs it only if no shape function has seen the shapes."""
    return not case.key.startswith("unshaped ")


@pytest.mark.sampled(30)
@pytest.mark.ops(where=has_shapes)
def test_facts_hold_whatever_is_forgotten(cases: Sequence[tuple[str, opcases.Case]]) -> None:
    opcases.for_each(cases, check_facts)


def check_facts(family: str, case: opcases.Case) -> None:
    """The run's results are TensorFlow's, as tests/core/ops/test_ops.py holds."""
    recorded = answers(family).steps(case.key)
    if recorded[0]["error"]:
        return
    builder = GraphBuilder()
    steps = case.build(builder)
    graph = builder.graph
    facts = forgotten(graph, case.feeds, random.Random(case.key))
    session = Session(graph, seed=0, files=FileAccess.everything())
    for fetches, step in zip(steps, recorded, strict=True):
        if step["error"]:
            with pytest.raises(TfgError):
                hold(facts, session, fetches, case.feeds)
        else:
            hold(facts, session, fetches, case.feeds)


GRAPHS = [path for path in sorted(SAMPLES.iterdir()) if path.suffix == ".pbtxt" or (path / "saved_model.pb").exists()]


@pytest.mark.parametrize("path", [path for path in GRAPHS if path.stem != "skipgram"], ids=lambda path: path.stem)
def test_facts_hold_in_samples(path: pathlib.Path) -> None:
    graph = tfg.load(path)
    for fetches in default_runs(graph):
        feeds = Feeds(graph, {}, fetches).first()
        hold(forgotten(graph, feeds, random.Random(path.stem)), local_session(graph, None), fetches, feeds)
