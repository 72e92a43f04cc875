"""`tfg diff`: compare two graphs node by node."""

from __future__ import annotations

from ..options import GraphReader, ci_format_option, quiet_option, raw_option
from ..requests import argument, command_of, option, part, request


@request
class DiffOptions:
    """Compare BEFORE with AFTER: nodes, functions, signatures, variables with their values, assets, versions.

    The comparison ignores the order of nodes, the numbers that TensorFlow adds to names, and the nodes that save variables.
    Functions match by their computation. A checkpoint, an .npz or a .safetensors file is compared by its values, also with a
    frozen graph. Exit code: 0 if all sections are equal, 3 if they differ. `tfg view BEFORE
    --diff AFTER` shows both graphs and the differences in a page.

    \b
    tfg diff graph.pb optimized.pb
    tfg diff old_saved_model new_saved_model
    tfg diff model.ckpt-1000 frozen.pb
    tfg diff graph.pb graph.pbtxt --quiet && echo equal
    """

    before: str = argument()
    after: str = argument()
    # TensorFlow numbers names anew in each process, so that strict names find differences in equal models.
    strict_names: bool = option(help="Match nodes and functions by name alone, and compare the full names.")
    raw: bool = raw_option()
    format_: str = ci_format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(DiffOptions, "diff_job.run")
