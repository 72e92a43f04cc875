"""Optimizers as data: an update op, slot variables and hyperparameters per optimizer. Learning-rate schedules.

An update op has forms for ref and resource variables, and for dense and sparse gradients. All forms name the inputs alike.
The op catalog therefore gives the positions of slots, hyperparameters and the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..building.builder import GraphBuilder
from ..graph.graph import Output
from ..support import dataclasses
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError
from ..types import dtypes


@dataclasses.dataclass(frozen=True, slots=True)
class SlotVariable:
    """A variable that the optimizer keeps for each trained variable: VARIABLE/name, of the same shape, filled with
    `initial`.
    """

    name: str
    initial: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimizer.

    `op` is the dense update of a ref variable; the prefixes `Resource` and `Sparse` give the other forms. `slots` and
    `hyperparameters` are named by the op's inputs, with TensorFlow's defaults. `powers` are decay rates, each with a
    variable that holds the rate's power and is multiplied by the rate after every step. `attrs` are fixed attributes of the
    op.
    """

    name: str
    op: str
    summary: str
    learning_rate: float
    slots: Mapping[str, SlotVariable] = dataclasses.field(default_factory=dict)
    hyperparameters: Mapping[str, float] = dataclasses.field(default_factory=dict)
    powers: tuple[str, ...] = ()
    attrs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    has_sparse_op: bool = True
    scatters: bool = False
    """True if the rows of a sparse gradient are taken from the variable as they come, an index several times."""

    @property
    def decays_weights(self) -> bool:
        """True if a step takes lr weight_decay w from w before anything else (Loshchilov and Hutter 2019)."""
        return "weight_decay" in self.hyperparameters

    def configured(self, settings: Mapping[str, float]) -> Optimizer:
        """Return this optimizer with other hyperparameters; InvalidArgumentError for an unknown hyperparameter."""
        for name in settings:
            if name not in self.hyperparameters:
                names = ", ".join(self.hyperparameters) or "none"
                raise InvalidArgumentError(
                    f"optimizer {self.name} has no hyperparameter '{name}'; its hyperparameters are {names}"
                )
        return dataclasses.replace(self, hyperparameters={**self.hyperparameters, **settings})


_ADAM_SLOTS = {"m": SlotVariable("Adam"), "v": SlotVariable("Adam_1")}
_ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}

OPTIMIZERS: Mapping[str, Optimizer] = {
    optimizer.name: optimizer
    for optimizer in (
        Optimizer("sgd", "ApplyGradientDescent", "w -= lr g", 0.01, has_sparse_op=False, scatters=True),
        Optimizer(
            "momentum",
            "ApplyMomentum",
            "a = momentum a + g; w -= lr a",
            0.01,
            {"accum": SlotVariable("Momentum")},
            {"momentum": 0.9},
        ),
        Optimizer(
            "nesterov",
            "ApplyMomentum",
            "a = momentum a + g; w -= lr (g + momentum a)",
            0.01,
            {"accum": SlotVariable("Momentum")},
            {"momentum": 0.9},
            attrs={"use_nesterov": True},
        ),
        # Initial values of slots are those of TensorFlow 1's optimizers: 0.1 for Adagrad and FTRL, 1 for the mean of squares
        # of RMSProp.
        Optimizer("adagrad", "ApplyAdagrad", "a += g^2; w -= lr g / sqrt(a)", 0.01, {"accum": SlotVariable("Adagrad", 0.1)}),
        Optimizer(
            "adadelta",
            "ApplyAdadelta",
            "a = rho a + (1-rho) g^2; d = g sqrt(u+eps)/sqrt(a+eps); u = rho u + (1-rho) d^2; w -= lr d",
            0.001,
            {"accum": SlotVariable("Adadelta"), "accum_update": SlotVariable("Adadelta_1")},
            {"rho": 0.95, "epsilon": 1e-8},
        ),
        Optimizer(
            "rmsprop",
            "ApplyRMSProp",
            "s = rho s + (1-rho) g^2; m = momentum m + lr g / sqrt(s+eps); w -= m",
            0.001,
            {"ms": SlotVariable("RMSProp", 1.0), "mom": SlotVariable("RMSProp_1")},
            {"rho": 0.9, "momentum": 0.0, "epsilon": 1e-10},
        ),
        Optimizer(
            "adam",
            "ApplyAdam",
            "m, v: moving averages of g, g^2; w -= lr sqrt(1-beta2^t)/(1-beta1^t) m / (sqrt(v)+eps)",
            0.001,
            _ADAM_SLOTS,
            _ADAM,
            ("beta1", "beta2"),
            has_sparse_op=False,
        ),
        Optimizer(
            "adamw",
            "ApplyAdam",
            "w -= lr weight_decay w; then as adam (Loshchilov and Hutter 2019)",
            0.001,
            _ADAM_SLOTS,
            # Keras's defaults: TensorFlow 1 has no AdamW.
            {**_ADAM, "epsilon": 1e-7, "weight_decay": 0.004},
            ("beta1", "beta2"),
            has_sparse_op=False,
        ),
        Optimizer(
            "adamax",
            "ApplyAdaMax",
            "v = max(beta2 v, |g|); w -= lr/(1-beta1^t) m / (v+eps)",
            0.001,
            {"m": SlotVariable("AdaMax"), "v": SlotVariable("AdaMax_1")},
            _ADAM,
            ("beta1",),
            has_sparse_op=False,
        ),
        Optimizer(
            "nadam",
            "ApplyAdam",
            "Adam with Nesterov momentum: beta1 m + (1-beta1) g in place of m",
            0.001,
            {"m": SlotVariable("Nadam"), "v": SlotVariable("Nadam_1")},
            _ADAM,
            ("beta1", "beta2"),
            {"use_nesterov": True},
            has_sparse_op=False,
        ),
        Optimizer(
            "ftrl",
            "ApplyFtrl",
            "follow the regularized leader (McMahan et al. 2013)",
            0.001,
            {"accum": SlotVariable("Ftrl", 0.1), "linear": SlotVariable("Ftrl_1")},
            {"l1": 0.0, "l2": 0.0, "lr_power": -0.5},
        ),
    )
}


SYNONYMS: Mapping[str, str] = {
    "gradient-descent": "sgd",
    "levenberg-marquardt": "lm",
    "nesterov-momentum": "nesterov",
}
"""Other names of optimizers; `lm` is not in OPTIMIZERS, since `lm` takes residuals."""


@checked
def optimizer_name(word: str) -> str:
    """Return the optimizer name for a word: in any case, with `_` for `-`, or a synonym."""
    name = word.lower().replace("_", "-")
    return SYNONYMS.get(name, name)


def find_optimizer(name: str) -> Optimizer:
    """Return the optimizer of a name, with its hyperparameters and slots; InvalidArgumentError lists the names."""
    try:
        return OPTIMIZERS[optimizer_name(name)]
    except KeyError:
        raise InvalidArgumentError(f"unknown optimizer '{name}'; the optimizers are {', '.join(OPTIMIZERS)}, lm") from None


# Learning-rate schedules: nodes that compute the rate from the global step.


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
