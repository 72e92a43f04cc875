"""The JSON of the commands that run or rewrite graphs, and of those that read checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

import numpy as np

if TYPE_CHECKING:
    from ...core.comparing.element_differences import Comparison
    from ...core.comparing.value_comparison import NodeComparison, TimeComparison
    from ...core.comparing.verify_rewrite import Drawn, LoneRefusal
    from ...core.engines.engine_report import EngineReport
    from ...core.explaining.graph_facts import TensorFacts
    from ...core.gradients.jacobian import GradientCheck
    from ...core.graph.metagraph import Signature
    from ...core.passes.pass_listing import PassFacts
    from ...core.passes.pipeline import OptimizeReport
    from ...core.runtime.session.runner import StepResult
    from ...core.training.trainer import Progress
    from ...formats.api.checkpoints import TensorRow


class Steps(TypedDict):
    """The fetched values."""

    steps: Sequence[StepResult]
    """The steps that fetched; empty where nothing was fetched."""


class Result(TypedDict):
    """The result for one of many inputs, a line of a file."""

    name: str
    """The name of the input, with the values of --sweep."""
    steps: Sequence[StepResult]
    """The steps that fetched."""


class Choices(TypedDict):
    """What can be run of a graph."""

    signatures: Sequence[Signature]
    """The signatures of a SavedModel."""
    inputs: Sequence[TensorFacts]
    """The placeholders."""
    outputs: Sequence[TensorFacts]
    """The tensors that no node reads."""
    next_commands: Sequence[str]
    """Command lines that run the graph."""


class CheckpointTensors(TypedDict):
    """The tensors of a checkpoint."""

    checkpoint: str
    """The prefix or the file as given."""
    tensors: Sequence[TensorRow]
    """The chosen tensors by name."""


class CheckpointValues(TypedDict):
    """Values of tensors of a checkpoint."""

    checkpoint: str
    """The prefix or the file as given."""
    values: Mapping[str, np.ndarray]
    """The elements of each tensor, by its name."""


class Compare(TypedDict):
    """How far the values of two graphs differ."""

    first: NodeComparison | None
    """The first value that differs, in the order of execution; null where all agree."""
    first_nonfinite: NodeComparison | None
    """The first value with a NaN or an infinity in the second graph and not in the first; null where there is none."""
    compared: int
    """How many values both graphs have."""
    only_before: Sequence[str]
    """Nodes of the first graph without a counterpart."""
    only_after: Sequence[str]
    """Nodes of the second graph without a counterpart."""
    engines: NotRequired[Sequence[EngineReport]]
    """With --engines: what each engine ran."""
    times: NotRequired[TimeComparison]
    """With --measured: the times of the nodes."""
    nodes: NotRequired[Sequence[NodeComparison]]
    """With --all: every value that was compared."""


class Gradient(TypedDict):
    """The gradient with respect to a tensor."""

    x: str
    """The tensor."""
    gradient: str | None
    """The tensor that is the gradient; null where no y depends on x."""
    value: NotRequired[np.ndarray]
    """With --feed, --init or --state: the gradient's elements."""


class Gradients(TypedDict):
    """The gradients that were added to a graph."""

    gradients: Sequence[Gradient]
    """An entry for each x."""


class GradientChecks(TypedDict):
    """Gradients beside central differences."""

    checks: Sequence[GradientCheck]
    """An entry for each pair of y and x."""


class DerivativeValues(TypedDict):
    """Derivatives of y with respect to x."""

    y: str
    """The tensor that is differentiated."""
    x: str
    """The tensor to differentiate with respect to."""
    jacobian: NotRequired[np.ndarray]
    """With --jacobian: all derivatives; the dimensions of y before the dimensions of x."""
    vjp: NotRequired[np.ndarray]
    """With --vjp: v^T J, shaped as x."""
    jvp: NotRequired[np.ndarray]
    """With --jvp: J v, shaped as y."""
    hessian_vector: NotRequired[np.ndarray]
    """With --hessian-vector: H v, shaped as x."""


class Derivatives(TypedDict):
    """Values of derivatives."""

    derivatives: Sequence[DerivativeValues]
    """An entry for each x."""


class Optimize(TypedDict):
    """What the passes did to a graph."""

    report: OptimizeReport
    """The passes and their effect."""
    verification: Sequence[Comparison]
    """With --verify: an entry for each fetch; empty without."""
    drawn: NotRequired[Drawn]
    """With --verify: the feeds that were drawn."""
    refusals: NotRequired[Sequence[LoneRefusal]]
    """With --verify: feeds that only one of the two graphs refuses."""
    unverified: NotRequired[str]
    """Why the graph was not verified, where --unverified let it be written all the same."""


class Passes(TypedDict):
    """All passes."""

    passes: Sequence[PassFacts]
    """The passes in their order."""


class Train(TypedDict):
    """A training by gradient steps."""

    optimizer: str
    """The name of the optimizer."""
    variables: Sequence[str]
    """The variables that were trained."""
    train_op: str
    """The op that makes a step."""
    init_op: str
    """The op that initializes what training added."""
    history: Sequence[Progress]
    """The loss of each step, before the step's update."""
    stages: Mapping[str, Sequence[str]]
    """With --dump-stages: the nodes that each phase added, by the phase's name; empty without."""
