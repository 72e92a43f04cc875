"""The parts of the fuzzer: what each draws from a seed, and what is then tried with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

from tests.fuzz import bounds, commands, corpus, drawing, extremes, files, pipelines
from tests.fuzz.findings import Finding, attempt
from tests.fuzz.shrinking import shrunk, snippet_of
from tests.fuzz.trials import PARTS, Trial


@dataclasses.dataclass(frozen=True)
class Part:
    """One kind of case: how to draw one, and the actions to try on it by name, drawn too where there are many."""

    draw: Callable[[Random], Any]
    actions: Callable[[Random, Any], Iterator[tuple[str, Callable[[], object]]]]


ACTIONS = 2
"""How many actions are tried on one graph: in the same time more graphs find more than all actions on fewer."""


def _on_graph(random: Random, trial: Trial) -> Iterator[tuple[str, Callable[[], object]]]:
    for part in random.sample(PARTS, ACTIONS):
        yield part.__name__, lambda part=part: part(trial)


def _itself(random: Random, case: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    yield case.origin, case


FUZZERS: Mapping[str, Part] = {
    "nodes": Part(drawing.draw_trial, _on_graph),
    "calls": Part(drawing.draw_call, _on_graph),
    "pipelines": Part(pipelines.draw_trial, _on_graph),
    "cases": Part(corpus.draw_trial, _on_graph),
    "extremes": Part(extremes.draw_trial, _on_graph),
    "commands": Part(commands.draw_invocation, _itself),
    "files": Part(files.draw_files, _itself),
}

SHARES = {"nodes": 6, "calls": 2, "pipelines": 2, "cases": 4, "extremes": 4, "commands": 2, "files": 5}
"""The parts' shares of all cases."""


def try_seed(name: str, seed: int, seconds: float = bounds.SECONDS) -> list[Finding]:
    """What is wrong with the case that part `name` draws from a seed."""
    part, random = FUZZERS[name], Random(seed)
    findings = []
    for action, act in part.actions(random, part.draw(random)):
        finding = attempt(_bounded(act, seconds), action)
        if finding is not None:
            findings.append(finding)
    return findings


def _bounded(action: Callable[[], object], seconds: float) -> Callable[[], object]:
    def act() -> None:
        with bounds.time_limit(seconds):
            action()

    return act


def snippet(name: str, seed: int, finding: Finding) -> str:
    """What shows the finding again: the smallest graph found, or the command or file as it was drawn."""
    case = FUZZERS[name].draw(Random(seed))
    if not isinstance(case, Trial):
        return str(case.snippet())
    part = next(part for part in PARTS if part.__name__ == finding.part)

    def fails(trial: Trial) -> bool:
        again = attempt(_bounded(lambda: part(trial), bounds.SECONDS), finding.part)
        return again is not None and again.key == finding.key

    return snippet_of(shrunk(case, fails), finding.part)
