"""`tfg run`: run a graph: feed, fetch, train, save variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import click

from ...core.support.file_formats import FOLDERS, NPY, NPZ, RESULTS, RUN_RESULTS, SHARDS, STATES, TRACES, named_format
from ..models import save_model_option
from ..options import (
    FileName,
    GraphReader,
    OutputFile,
    feed_option,
    fetch_option,
    output_option,
    pair,
    quiet_option,
    refuse_terminal,
    step_count,
)
from ..placeholder_options import RunSizeOptions
from ..requests import Positive, argument, changed_fields, command_of, option, part, request
from ..sessions import SessionOptions, cluster_session_options

if TYPE_CHECKING:
    from ...formats.api.run_plan import RunRequest

_MANY: Final = "--each --sweep"
"""The options of several runs."""
_LONG: Final = 20
"""The least number of steps for which an installed engine is tried: fewer seldom take as long as compiling."""
_RUN: Final = (
    "--fetch --target --signature --function --feed --input-examples --each --check-numerics --profile --top-k --output"
)
"""The options that ask for a run, without which steps do nothing."""
_ON_SERVERS: Final = {"--on=grpc*": "the servers run the kernels"}


@request
class RunOptions:
    """Run GRAPH and print the fetched values.

    A run has this order: initializer, --state, --assign (then --assign-add, --assign-sub), --steps, --save-state. Variables
    live as long as the command; --save-state and --state carry them to the next command. Without further options, the
    command lists the outputs and operations that can run.

    \b
    tfg run saved_model_folder
    tfg run graph.pb --fetch y --feed x='[[1, 2, 3]]'
    tfg run train.pb --init --target train --fetch loss --steps 100 --fetch-every 10 --save-state s.npz
    tfg run saved_model_folder --feed x=@x.npy --format json
    tfg run saved_model_folder --each 'inputs/*.npz' --on local:4 --out-dir results
    """

    graph: str = argument()
    fetches: tuple[str, ...] = fetch_option("Tensor to print; FUNCTION/NODE for a tensor in a function; repeatable.")
    feeds: tuple[tuple[str, str], ...] = feed_option()
    input_examples: tuple[tuple[str, str], ...] = option(
        type=pair("TENSOR", "ROWS"),
        help="Feed tf.Examples to a tensor of strings: a list of objects with the values of features by name; repeatable.",
    )
    targets: tuple[str, ...] = option("--target", metavar="OP", help="Operation to run, such as a train step; repeatable.")
    # Without something to run, steps would count nothing.
    steps: int | None = option(
        type=step_count, default=1, needs=_RUN, help="Number of steps; `epoch` runs to the end of an iterator."
    )
    fetch_every: Positive = option(
        default=1, show_default=False, needs="--steps", help="Fetch in every N-th step and in the last step."
    )
    # Three options and no operators in the value, whose grammar is that of --feed.
    assign: tuple[tuple[str, str], ...] = option(
        type=pair("VARIABLE", "VALUE"), help="Assign a value to a variable before the steps; repeatable."
    )
    assign_add: tuple[tuple[str, str], ...] = option(
        type=pair("VARIABLE", "VALUE"), help="Add a value to a variable before the steps."
    )
    assign_sub: tuple[tuple[str, str], ...] = option(
        type=pair("VARIABLE", "VALUE"), help="Subtract a value from a variable before the steps."
    )
    # Many runs would each write the same file.
    save_state: str | None = option(
        type=OutputFile(STATES),
        metavar="FILE",
        excludes=_MANY,
        help="At the end, write the variables to an .npz or .safetensors file or a checkpoint.",
    )
    save_model: str | None = save_model_option(excludes=_MANY)
    out: str | None = output_option(
        OutputFile(RUN_RESULTS, may_be_stdout=True),
        "Write the results here, as .npy, .npz, .json, .csv or .txt. For --each, --sweep: shards, FILE-00000-of-00010, "
        "as .npz, .tfrecord, .jsonl, .csv, .parquet or .arrow.",
    )
    shard_size: Positive | None = option(
        needs=_MANY,
        excludes={"--out-dir": "each result has its own file"},
        help="With --each or --sweep, and --output: number of results in a shard. Default: 1000, or for Parquet and Arrow "
        "inputs the groups of their rows.",
    )
    format_: Literal["table", "json", "csv", "npy", "npz"] | None = option(help="Format of the printed results.")
    each: tuple[str, ...] = option(
        metavar="PATTERN",
        help="Run once for each matching file, or file of a folder: .npz, .npy, TFRecord, pictures, lines of JSON, rows of "
        "CSV, Parquet and Arrow. Arrays are fed by name, or by --feed TENSOR=@each:KEY or @each?scale=1/255.",
    )
    sweep: tuple[tuple[str, str], ...] = option(
        type=pair("NAME", "V1,V2"), help="Run once with each value of a tensor or variable."
    )
    out_dir: str | None = option(
        type=OutputFile(FOLDERS, makes_folders=True),
        metavar="DIR",
        needs=_MANY,
        excludes={"--output": "results go to shards"},
        help="With --each or --sweep: folder with a file for each result. A job skips the results that it already has.",
    )
    overwrite: bool = option(needs=_MANY, help="With --each or --sweep: run all inputs again, even if --out-dir has results.")
    # Off by default: a mistake in the options fails for every input.
    keep_going: bool = option(needs=_MANY, help="With --each or --sweep: continue after a failure.")
    # A cache lives in a session, and each input of many may have its own.
    cache_stats: bool = option(
        needs=_RUN,
        excludes=_ON_SERVERS | {_MANY: ""},
        help="Cache values between steps that no write, feed or random draw changes; print the savings.",
    )
    optimize: Literal["none", "fuse"] = option(
        default="fuse",
        needs=_RUN,
        excludes=_ON_SERVERS,
        help="Execution of repeated runs: call each kernel separately, or run groups of steps as a unit.",
    )
    check_numerics: bool = option(excludes=_ON_SERVERS, help="Stop at the first NaN or Inf, and name the node and its inputs.")
    top_k: Positive | None = option(help="Show the N best classes of each row of fetched scores.")
    # The name is checked before the run, and the contents before the first step.
    labels: str | None = option(
        type=FileName(),
        metavar="FILE",
        needs="--top-k",
        help="With --top-k: file with the labels of the classes, a line each, or JSON.",
    )
    profile: str | None = option(
        type=OutputFile(TRACES),
        metavar="FILE",
        excludes=_ON_SERVERS | {"--check-numerics --each --sweep": ""},
        help="Write a Chrome trace of the last step for Perfetto; show the costliest nodes and the memory peak.",
    )
    sizes: RunSizeOptions = part(RunSizeOptions)
    session: SessionOptions = part(cluster_session_options)
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)

    @property
    def is_of_many(self) -> bool:
        """Return True for several runs: one for each input or setting."""
        return bool(self.each or self.sweep)

    @property
    def is_long(self) -> bool:
        """Return True for many steps that an engine may run: with a hook or a cache, NumPy runs each kernel."""
        # A hook sees each kernel, and a cache keeps the values between them: an engine has neither.
        is_watched = self.check_numerics or self.profile is not None or self.cache_stats
        return not is_watched and (self.steps is None or self.steps >= _LONG)

    @property
    def format(self) -> str:
        """Return the format of the results: from --format, or from the extension of --output."""
        # Shards have formats that a single result has not, and the other way round.
        asked = named_format(self.out, self.format_, SHARDS if self.is_of_many and self.out is not None else RESULTS)
        return "table" if asked is None else asked.word

    @property
    def request(self) -> RunRequest:
        """Return the work of a run. Without names to fetch, all outputs are fetched where options ask for values."""
        from ...formats.api.names import ExampleRows, Given
        from ...formats.api.run_plan import RunRequest

        # A file to write, or classes to show, need something to be fetched, though the options name nothing.
        asks_for_values = self.out is not None or self.top_k is not None
        # Examples become serialized messages only once the graph tells which features it parses.
        examples: list[tuple[str, str | Given]] = [(name, ExampleRows(rows)) for name, rows in self.input_examples]
        feeds = (*self.feeds, *examples)
        asks_for_run = feeds or self.is_of_many or self.check_numerics or self.profile is not None
        fetches_outputs = asks_for_values or bool(asks_for_run and not self.targets)
        # Fields of equal names are one option at both doors; only the feeds and the default outputs are worked out here.
        same = {name: getattr(self, name) for name in RunRequest.__dataclass_fields__ if name in type(self).__annotations__}
        return RunRequest(**same | {"feeds": feeds, "fetches_outputs": fetches_outputs})

    @property
    def asks_nothing(self) -> bool:
        """Return True if no option asks for a run; the command then lists the possible runs."""
        session, reader = self.session, self.reader
        if session.changes_state or session.signature is not None or reader.function is not None:
            return False
        # The format of the answer and its notes ask for no run.
        return not changed_fields(self) - {"format_", "quiet"}

    def check(self) -> None:
        """Raise usage errors before the first step."""
        if self.sizes.batch == "auto" and not self.each:
            raise click.UsageError("--batch auto needs --each")
        if self.is_of_many and self.out == "-":
            raise click.UsageError("with --each and --sweep, --output names files, not standard output")
        if self.is_of_many and self.out is not None and self.format_ is not None:
            raise click.UsageError("--format has no effect with --output of --each and --sweep: the extension sets the format")
        # A terminal would show the bytes, and may obey some of them.
        if self.format in (NPY.word, NPZ.word) and self.out in (None, "-") and not self.is_of_many:
            refuse_terminal(f"--format {self.format}")


command = command_of(RunOptions, "run_job.run")
