"""`tfg unfreeze`: turn the constants of a frozen graph into variables that can be trained."""

from __future__ import annotations

from ...core.support.file_formats import MODELS
from ..options import GraphReader, OutputFile, output_option, quiet_option, tolerance_option
from ..requests import argument, command_of, option, part, request


@request
class UnfreezeOptions:
    """Write the frozen graph FROZEN as a SavedModel with variables in place of its parameters.

    The parameters are the constants that `tfg flops` counts as such. `tfg train` trains the variables, and TensorFlow loads
    them. The averages of batch normalizations become variables that are not trained.

    \b
    tfg unfreeze frozen.pb -o model
    tfg unfreeze frozen.pb -o model --variable logits --to probabilities
    tfg train model --loss 'mse(probabilities)' --feed ...
    """

    frozen: str = argument()
    output: str = output_option(OutputFile(MODELS), "Write this SavedModel.", "OUT_DIR", required=True)
    variables: tuple[str, ...] = option(
        "--variable", metavar="NAME", help="Turn this constant, or the parameters of this layer, into variables; repeatable. "
        "Default: all parameters."
    )  # fmt: skip
    # A frozen graph has no signature, and its outputs are guesses unless named.
    outputs: tuple[str, ...] = option(
        "--to", metavar="NAME", help="Make this tensor an output of the model; repeatable. Default: the outputs."
    )
    verify: bool = option(help="Run a copy of the written model on random feeds beside FROZEN; exit with 3 if they differ.")
    tolerance: float | None = tolerance_option("--verify", "1e-5, more where roundings have more effect", needs="--verify")
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(UnfreezeOptions, "unfreeze_job.run")
