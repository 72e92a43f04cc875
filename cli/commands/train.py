"""`tfg train`: minimize a loss of a graph and write the trained graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...core.support.file_formats import STATES
from .. import render
from ..helps import GroupedCommand
from ..models import save_model_option
from ..options import (
    GraphReader,
    OutputFile,
    Pair,
    Regex,
    excluding,
    feed_option,
    format_option,
    gathered,
    graph_options,
    graph_output_options,
    needing,
    quiet_option,
)
from ..sessions import SessionOptions, mesh_session_options

if TYPE_CHECKING:
    from ..jobs.train_job import TrainOptions


class OptimizerName(click.ParamType[str]):
    """The name of an optimizer, or an alias."""

    name = "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from ...core.training.optimizers import optimizer_name

        return optimizer_name(str(value))


@click.command(cls=GroupedCommand)
@excluding("--mesh --checkpoint-every --resume", "--optimizer=lm")
@excluding("--state", "--resume", "training continues from --save-state")
@click.argument("graph")
@click.option("--loss", metavar="TENSOR", help="Loss to minimize (for lm: residuals), or mse, mae or crossentropy.")
@click.option("--var", "variables", type=Regex(), default="", help="Train only matching variables.")
@click.option("--optimizer", type=OptimizerName(), default="sgd", show_default=True, metavar="NAME",
              help="sgd, momentum, nesterov, adagrad, adadelta, rmsprop, adam, adamw, adamax, nadam, ftrl or lm.")  # fmt: skip
@click.option("--lr", type=float, help="Learning rate. Default: depends on the optimizer.")
@click.option("--hyperparameter", "settings", type=Pair("NAME", "NUMBER"), multiple=True,
              help="Set a hyperparameter, such as momentum=0.9; repeatable.")  # fmt: skip
@click.option("--schedule", metavar="NAME(...)", help="exponential, inverse_time, polynomial or cosine(decay_steps=100).")
@click.option("--clip", type=Pair("KIND", "LIMIT"), help="Clip gradients: value=, norm= or global_norm=LIMIT.")
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Number of steps; for lm the largest number of iterations.",
)
@feed_option
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Feed N rows a step, and start over at the end.")
@mesh_session_options
@click.option(
    "--save-state", type=OutputFile(STATES), metavar="FILE", help="At the end, write all variables, including slots."
)
@click.option("--checkpoint-every", type=click.IntRange(1), metavar="N", help="Also write --save-state after every N steps.")
@click.option("--resume", is_flag=True, help="Continue from --save-state if the file exists, up to --steps in total.")
@save_model_option
@graph_output_options("Write the training graph here; TensorFlow can continue its training.")
@click.option("--dump-stages", is_flag=True, help="Show the nodes that each phase adds.")
@format_option()
@quiet_option
@graph_options
@gathered("train_job.TrainOptions")
@needing("--checkpoint-every --resume", "--save-state")
@excluding("--lr --hyperparameter --schedule --clip --batch --dump-stages", "--optimizer=lm")
def command(graph: str, reader: GraphReader, session: SessionOptions, options: TrainOptions) -> int:
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
    from ..jobs.train_job import FirstOrderJob, LeastSquaresJob, TrainJob

    kind: type[TrainJob] = LeastSquaresJob if options.optimizer == "lm" else FirstOrderJob
    job = kind(reader.load(graph), session, options)
    job.run()
    if not session.speaks:
        return job.exit_code
    with render.beside(options.output):
        render.emit(job.schema, job.result(), options.format_, job.sections)
    return job.exit_code
