"""`tfg join`: join two graphs: outputs of one are inputs of the other."""

from __future__ import annotations

from ...core.support.file_formats import JOINED
from ..options import GraphReader, OutputFile, output_option, pair, quiet_option
from ..requests import argument, command_of, option, part, request
from ..sessions import SessionOptions, session_options_for


@request
class JoinOptions:
    """Write FIRST and SECOND as one graph, in which tensors of FIRST take the place of inputs of SECOND.

    INPUT and TENSOR are arguments of the signatures, tensors, nodes or layers. Names of the joined graph serve on both sides.
    A slash at the end of OUT, or an existing folder, makes a SavedModel with the variables, tables and files of both graphs.
    Its signature has the inputs and outputs of both that are not connected. Where both graphs have a name, the nodes and
    variables of SECOND get the name of its file as a prefix.

    \b
    tfg join features.pb head.pb -o model.pb --connect x=pool
    tfg join encoder/ decoder/ -o both/ --connect code=encoded --connect mask=valid
    tfg join a.meta b.meta -o both/ --connect x=y --first-state a.ckpt --second-state b.ckpt
    tfg join model/ model/ -o twice/ --connect image=output --second-prefix again
    """

    first: str = argument()
    second: str = argument()
    output: str = output_option(
        OutputFile(JOINED), "Write the joined graph here; the name sets the format, as in `tfg convert`.", "OUT", required=True
    )
    connect: tuple[tuple[str, str], ...] = option(
        type=pair("INPUT", "TENSOR"), help="Let TENSOR of FIRST take the place of INPUT of SECOND; repeatable."
    )
    # "" for no scope: FIRST keeps its names unless the user wants others.
    first_prefix: str = option(default="", metavar="SCOPE", help="Scope of the nodes and variables of FIRST.")
    second_prefix: str | None = option(
        metavar="SCOPE", help="Scope of the nodes and variables of SECOND. Default: none, or its file's name for a clash."
    )
    first_state: str | None = option(
        metavar="FILE", needs="--output=*/", help="Restore the variables of FIRST from this file or checkpoint."
    )
    second_state: str | None = option(
        metavar="FILE", needs="--output=*/", help="Restore the variables of SECOND from this file or checkpoint."
    )
    # Only a SavedModel has values, and with them a session.
    session: SessionOptions = part(session_options_for("--output=*/"))
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(JoinOptions, "join_job.run")
