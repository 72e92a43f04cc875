"""`tfg train`: minimize a loss of a graph and write the trained graph."""

from __future__ import annotations

from ...core.support.file_formats import STATES
from ..models import save_model_option
from ..options import (
    GraphReader,
    OutputFile,
    feed_option,
    format_option,
    graph_output_option,
    pair,
    parsed,
    quiet_option,
    regex,
    text_option,
)
from ..requests import Positive, argument, command_of, excluding, option, part, request
from ..sessions import SessionOptions, mesh_session_options


@parsed("NAME")
def named_optimizer(text: str) -> str:
    """Read the name of an optimizer, or an alias."""
    from ...core.training.optimizers import optimizer_name

    return optimizer_name(text)


@request
class TrainOptions:
    """Minimize a loss of GRAPH.

    Training starts from the initial values of the graph, the values of a SavedModel, or the values of --state. The command
    adds gradients, slot variables and update ops to the graph; -o writes that graph. The slot variables hold momentum and
    similar state, so --save-state and --state carry that state to the next command.

    \b
    tfg train model.pb --loss loss --optimizer adam --feed x=@x.npy --feed y=@y.npy --steps 500 --save-state s.npz
    tfg train model.pb --loss loss --optimizer momentum --lr 0.1 --hyperparameter momentum=0.95 --batch 32 -o trained.pb
    tfg train keras_model_folder --loss mse --optimizer lm --feed x=@x.npy --feed labels=@y.npy --save-model fitted
    tfg train keras_model_folder --loss 'crossentropy(probabilities, labels)' --feed x=@x.npy --feed labels=@y.npy
    tfg train curve.pb --loss residuals --optimizer lm --format json
    tfg train model.pb --loss loss --feed x=@x.npy --engine xla --mesh batch=4 --save-state s.npz --checkpoint-every 9
    """

    graph: str = argument()
    loss: str | None = option(metavar="TENSOR", help="Loss to minimize (for lm: residuals), or mse, mae or crossentropy.")
    # An expression, as one layer has several variables.
    variables: str = option("--var", type=regex, default="", help="Train only matching variables.")
    optimizer: str = option(
        type=named_optimizer,
        default="sgd",
        metavar="NAME",
        help="sgd, momentum, nesterov, adagrad, adadelta, rmsprop, adam, adamw, adamax, nadam, ftrl or lm.",
    )
    # Levenberg-Marquardt finds its own step, so that the options of gradient steps would do nothing.
    lr: float | None = option(excludes="--optimizer=lm", help="Learning rate. Default: depends on the optimizer.")
    settings: tuple[tuple[str, str], ...] = option(
        "--hyperparameter",
        type=pair("NAME", "NUMBER"),
        excludes="--optimizer=lm",
        help="Set a hyperparameter, such as momentum=0.9; repeatable.",
    )
    schedule: str | None = option(
        metavar="NAME(...)",
        excludes="--optimizer=lm",
        help="exponential, inverse_time, polynomial or cosine(decay_steps=100).",
    )
    # The names of TensorFlow's functions: clip_by_value, clip_by_norm, clip_by_global_norm.
    clip: tuple[str, str] | None = option(
        type=pair("KIND", "LIMIT"), excludes="--optimizer=lm", help="Clip gradients: value=, norm= or global_norm=LIMIT."
    )
    steps: Positive = option(default=100, help="Number of steps; for lm the largest number of iterations.")
    feeds: tuple[tuple[str, str], ...] = feed_option()
    batch: Positive | None = option(excludes="--optimizer=lm", help="Feed N rows a step, and start over at the end.")
    session: SessionOptions = part(
        mesh_session_options,
        excluding("--mesh", "--optimizer=lm"),
        excluding("--state", "--resume", "training continues from --save-state"),
    )
    save_state: str | None = option(
        type=OutputFile(STATES), metavar="FILE", help="At the end, write all variables, including slots."
    )
    checkpoint_every: Positive | None = option(
        needs="--save-state", excludes="--optimizer=lm", help="Also write --save-state after every N steps."
    )
    # In total and not further steps, so that a job that is started again after a crash ends at the same step.
    resume: bool = option(
        needs="--save-state",
        excludes="--optimizer=lm",
        help="Continue from --save-state if the file exists, up to --steps in total.",
    )
    save_model: str | None = save_model_option()
    output: str | None = graph_output_option("Write the training graph here; TensorFlow can continue its training.")
    text: bool = text_option()
    dump_stages: bool = option(excludes="--optimizer=lm", help="Show the nodes that each phase adds.")
    format_: str = format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(TrainOptions, "train_job.run")
