"""Learning-rate schedules: nodes that compute the rate from the global step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..building.builder import GraphBuilder
from ..graph.graph import Output
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..types import dtypes


@dataclasses.dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule by name with its settings: `cosine(decay_steps=100)`."""

    name: str
    settings: Mapping[str, float]

    def build(self, g: GraphBuilder, learning_rate: float, global_step: Output) -> Output:
        """Add the rate at the current step, a float32 scalar."""
        step = g.Cast(global_step, DstT=dtypes.float32)
        return SCHEDULES[self.name].build(g, learning_rate, step, self.settings)


@dataclasses.dataclass(frozen=True, slots=True)
class _Formula:
    """A kind of schedule: its settings with their defaults, and the function that builds the learning rate of a step."""

    summary: str
    defaults: Mapping[str, float | None]
    build: Callable[[GraphBuilder, float, Output, Mapping[str, float]], Output]


def parse_schedule(text: str) -> Schedule:
    """Return the Schedule of `name(setting=value,...)`; InvalidArgumentError for a wrong name or setting."""
    name, _, rest = text.strip().partition("(")
    formula = SCHEDULES.get(name)
    if formula is None:
        raise InvalidArgumentError(f"unknown schedule '{name}'; the schedules are {', '.join(SCHEDULES)}")
    settings = {key: value for key, value in formula.defaults.items() if value is not None}
    for item in filter(None, rest.rstrip(")").split(",")):
        key, _, value = (part.strip() for part in item.partition("="))
        if key not in formula.defaults:
            raise InvalidArgumentError(
                f"schedule {name} has no setting '{key}'; its settings are {', '.join(formula.defaults)}"
            )
        settings[key] = _number(name, key, value)
    missing = [key for key in formula.defaults if key not in settings]
    if missing:
        raise InvalidArgumentError(f"schedule {name} needs {missing[0]}=NUMBER")
    return Schedule(name, settings)


def _number(name: str, key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgumentError(f"{key}={text} of schedule {name} is not a number") from None


def _exponential(g: GraphBuilder, rate: float, step: Output, s: Mapping[str, float]) -> Output:
    exponent = g.RealDiv(step, s["decay_steps"])
    if s["staircase"]:
        exponent = g.Floor(exponent)
    return g.Mul(g.Pow(s["decay_rate"], exponent), rate)


def _inverse_time(g: GraphBuilder, rate: float, step: Output, s: Mapping[str, float]) -> Output:
    growth = g.AddV2(g.Mul(g.RealDiv(step, s["decay_steps"]), s["decay_rate"]), 1.0)
    return g.RealDiv(rate, growth)


def _polynomial(g: GraphBuilder, rate: float, step: Output, s: Mapping[str, float]) -> Output:
    left = g.Sub(1.0, g.RealDiv(g.Minimum(step, s["decay_steps"]), s["decay_steps"]))
    return g.AddV2(g.Mul(g.Pow(left, s["power"]), rate - s["end"]), s["end"])


def _cosine(g: GraphBuilder, rate: float, step: Output, s: Mapping[str, float]) -> Output:
    angle = g.Mul(g.RealDiv(g.Minimum(step, s["decay_steps"]), s["decay_steps"]), 3.141592653589793)
    share = g.Mul(g.AddV2(g.Cos(angle), 1.0), 0.5 * (1.0 - s["alpha"]))
    return g.Mul(g.AddV2(share, s["alpha"]), rate)


SCHEDULES: Mapping[str, _Formula] = {
    "exponential": _Formula(
        "lr decay_rate^(step/decay_steps)", {"decay_steps": None, "decay_rate": None, "staircase": 0.0}, _exponential
    ),
    "inverse_time": _Formula(
        "lr / (1 + decay_rate step/decay_steps)", {"decay_steps": None, "decay_rate": None}, _inverse_time
    ),
    "polynomial": _Formula(
        "(lr - end) (1 - step/decay_steps)^power + end", {"decay_steps": None, "end": 0.0001, "power": 1.0}, _polynomial
    ),
    "cosine": _Formula(
        "lr ((1 - alpha) (1 + cos(pi step/decay_steps))/2 + alpha)", {"decay_steps": None, "alpha": 0.0}, _cosine
    ),
}
