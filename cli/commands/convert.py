"""`tfg convert`: convert a graph: text, binary, frozen, a part, ONNX, StableHLO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import click

from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.errors import InvalidArgumentError
from ...core.support.file_formats import (
    CONVERTED,
    MODELS,
    ONNX,
    SAVED_MODEL,
    STABLEHLO,
    TFJS,
    conflict,
    extension_of,
    format_of,
)
from ..helps import GroupedCommand
from ..models import SignatureOptions, with_named_signatures
from ..options import GraphReader, OutputFile, parsed, quiet_option, tolerance_option
from ..placeholder_options import PlaceholderOptions
from ..requests import argument, command_of, option, part, request
from ..sessions import SessionOptions, session_options_for

if TYPE_CHECKING:
    from ...formats.saving import GraphForm

# A part has no signature that could take strings.
_PART: Final = {"--to --from --subgraph": "write the part first, with a signature"}
_APPENDED: Final = "write --append top_k=5,labels=FILE, or --append top_k=5,output=NAME"
_NUMBERS: Final = "write a number such as 127.5, a fraction such as 1/255, or a number for each channel: 123.7,116.8,103.9"


@parsed("NUMBERS")
def numbers(text: str) -> tuple[float, ...]:
    """Read a number or fraction, or several between commas."""
    from ...formats.pictures import factor

    return tuple(factor(part.strip(), _NUMBERS) for part in text.split(","))


@request
class ModelEndOptions:
    """What stands in front of a model and behind it."""

    prepended: tuple[str, ...] = option(
        "--prepend",
        metavar="KIND[=INPUT]",
        excludes=_PART,
        help="Let the signature take strings: 'image' decodes pictures and resizes them, 'base64' decodes bytes; repeatable.",
    )
    mean: tuple[float, ...] | None = option(
        type=numbers, needs="--prepend", help="With --prepend image: subtract this from pixels of 0 to 255."
    )
    scale: tuple[float, ...] | None = option(
        type=numbers, needs="--prepend", help="With --prepend image: then multiply by this, for instance 1/127.5."
    )
    bgr: bool = option(needs="--prepend", help="With --prepend image: reverse the channels, for models that take BGR.")
    appended: str | None = option(
        "--append",
        metavar="top_k=N[,labels=FILE]",
        excludes=_PART,
        help="Let the signature give the N best classes and their scores, as labels of FILE or as numbers.",
    )

    def __bool__(self) -> bool:
        return bool(self.prepended or self.appended)

    def added(self, graph: Graph, signature: str | None) -> Graph:
        """Return the graph with what stands in front and behind; the first --prepend is next to the model."""
        from ...formats.api.joins import prepend

        # Given from the model outwards, as each is put in front of the last.
        kinds = [tuple(word.partition("=")[::2]) for word in self.prepended]
        # By hand, as a rule of options knows no `--prepend image` beside other values of --prepend.
        if (self.mean or self.scale or self.bgr) and not any(kind == "image" for kind, _ in kinds):
            raise click.UsageError("--mean, --scale and --bgr need --prepend image")
        for kind, name in kinds:
            pixels: dict[str, Any] = (
                {"mean": self.mean or (), "scale": self.scale or (), "bgr": self.bgr} if kind == "image" else {}
            )
            graph = prepend(graph, kind, name or None, signature=signature, **pixels)
        return graph if self.appended is None else self._with_classes(graph, self.appended, signature)

    def _with_classes(self, graph: Graph, text: str, signature: str | None) -> Graph:
        from ...formats.api.joins import append
        from ...formats.api.step_results import read_labels

        # Cut at commas first: names of files with commas go to `tfg.append` in Python.
        items = dict(part.partition("=")[::2] for part in text.split(","))
        if not items.get("top_k", "").isdecimal() or items.keys() - {"top_k", "labels", "output"}:
            raise InvalidArgumentError(f"cannot append '{text}'", hint=_APPENDED)
        labels = read_labels(items["labels"]) if "labels" in items else None
        return append(graph, int(items["top_k"]), labels, items.get("output"), signature=signature)


_GRAPHS_ONLY: Final = {
    f"OUT=*.{extension}": f"{name} file has a single form, without variables, functions or devices"
    for extension, name in (("onnx", "an ONNX"), ("stablehlo", "a StableHLO"), ("json", "a TensorFlow.js"))
}
"""The files that options for graphs have no effect on, and why."""
_MODELS: Final = (*ONNX.extensions, *STABLEHLO.extensions, *TFJS.extensions)
"""The files of models of other runtimes."""


@request
class ConvertOptions:
    """Read the graph IN and write it to OUT, or -o OUT; - is standard input or output.

    The name of OUT sets the format. .pb or no extension is binary, .pbtxt is text, .meta is a MetaGraphDef; a .gz at the end
    compresses the file. A slash at the end, or an existing folder, makes a SavedModel. An .onnx file holds the inference part
    with frozen variables: the nodes that --to or the signature needs. A .stablehlo file holds the same part as a program for
    JAX (`jax.export.deserialize`), for batches of any size. A .json file, with files of weights beside it, holds the same
    part as a graph model of TensorFlow.js.

    \b
    tfg convert graph.pb graph.pbtxt
    tfg convert saved_model_folder graph.pb --freeze
    tfg convert train.meta model_folder/ --state model.ckpt-1000 --to probabilities
    tfg convert train.pb frozen.pb --freeze --state model.ckpt-1000 --to logits --strip-default-attrs
    tfg convert saved_model_folder old.pb --freeze --for-tensorflow 1.13
    tfg convert train.meta model_folder/ --inference --ema --state model.ckpt-1000 --to probabilities
    tfg convert saved_model_folder model.onnx --verify
    tfg convert saved_model_folder model.onnx --opset 15
    tfg convert frozen.pb model.stablehlo --to logits
    tfg convert saved_model_folder served/ --prepend image --mean 127.5 --scale 1/127.5 --append top_k=5,labels=labels.txt
    tfg convert saved_model_folder web/model.json --weight-type uint8
    """

    source: str = argument("IN")
    target: str = argument("OUT", type=OutputFile(CONVERTED, may_be_stdout=True))
    # A pair of flags, as the extension decides where neither is given.
    text: bool | None = option(
        "--text/--binary",
        excludes=_GRAPHS_ONLY | {"--kind=saved_model OUT=*/": ""},
        help="Write text or binary. Default: the extension of OUT (.pbtxt is text).",
    )
    compress: bool | None = option(
        "--gzip/--no-gzip",
        excludes=_GRAPHS_ONLY | {"--kind=saved_model OUT=*/": ""},
        help="Compress the output. Default: only if OUT ends in .gz.",
    )
    kind: Literal["graph", "meta_graph", "saved_model"] | None = option(
        excludes=_GRAPHS_ONLY, help="Write this kind of graph."
    )
    outputs: tuple[str, ...] = option(
        "--to", metavar="NAME", help="Keep only the nodes that this tensor or operation needs; repeatable."
    )
    inputs: tuple[str, ...] = option(
        "--from", metavar="TENSOR", help="Cut here: this tensor becomes a placeholder; repeatable."
    )
    subgraph: bool = option(excludes=_GRAPHS_ONLY, help="Keep only the nodes that --to needs, cut at --from. Implied by both.")
    # Before --freeze in the help and in the work: what goes needs no value.
    inference: bool = option(
        help="Turn a training graph into an inference graph: flags of training and dropout off, averages in place of the "
        "statistics of batches, updates and losses gone."
    )
    ema: bool = option(needs="--inference", help="Let moving averages take the place of variables.")
    freeze: bool = option(excludes=_GRAPHS_ONLY, help="Turn variables into constants.")
    keep_functions: bool = option(excludes="--inline-functions", help="Freeze, but keep function calls.")
    kept_variables: tuple[str, ...] = option(
        "--except", metavar="VARIABLE", needs="--freeze", help="Do not freeze this variable; repeatable."
    )
    session: SessionOptions = part(
        # The values of variables matter to these outputs alone: elsewhere such options would do nothing.
        session_options_for("--freeze", "--kind=saved_model", "OUT=*.onnx", "OUT=*.stablehlo", "OUT=*.json", "OUT=*/")
    )
    inline_functions: bool = option(
        excludes=_GRAPHS_ONLY, help="Replace each call of a function with the body of the function."
    )
    opset: int | None = option(needs="OUT=*.onnx", help="Write the operators of this opset of ONNX, from 13.  [default: 21]")
    weight_type: Literal["float16", "uint8", "uint16"] | None = option(
        needs="OUT=*.json", help="Store the weights of floats in this type. Default: float32."
    )
    strip_default_attrs: bool = option(excludes=_GRAPHS_ONLY, help="Drop attributes with default values.")
    for_tensorflow: str | None = option(
        metavar="RELEASE",
        excludes=_GRAPHS_ONLY,
        help="Use the ops and attributes of this release of TensorFlow, such as 1.13; an error names nodes that it lacks.",
    )
    clear_devices: bool = option(excludes=_GRAPHS_ONLY, help="Drop the devices of all nodes.")
    placeholders: PlaceholderOptions = part(PlaceholderOptions)
    ends: ModelEndOptions = part(ModelEndOptions)
    signatures: SignatureOptions = part(SignatureOptions)
    verify: bool = option(help="Run a copy of the written file on random feeds beside IN; exit with 3 if they differ.")
    tolerance: float | None = tolerance_option(
        "--verify", "1e-5, more where roundings have more effect, and 1e-4 for a graph", needs="--verify"
    )
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)

    @property
    def is_model(self) -> bool:
        """Return True if the command writes a model of another runtime."""
        return extension_of(self.target) in _MODELS

    @property
    def needs_values(self) -> bool:
        """Return True if the written file holds the values of variables."""
        return self.is_model or self.freeze or self.kind == "saved_model"

    @property
    def cuts(self) -> bool:
        """Return True if the command keeps only a part of the graph."""
        return self.subgraph or bool(self.outputs or self.inputs)

    @property
    def inlines(self) -> bool:
        """Return True to inline functions, as TensorFlow's converter does when freezing."""
        return self.inline_functions or (self.freeze and not self.keep_functions)

    @property
    def changes_form_only(self) -> bool:
        """Return True if only the form of the graph changes."""
        changes = (
            self.freeze,
            self.inline_functions,
            self.strip_default_attrs,
            self.for_tensorflow,
            self.clear_devices,
            self.placeholders,
            self.ends,
        )
        # What is left copies the bytes of nodes, also of broken ones.
        return not (self.cuts or self.inference or any(changes))

    def checked(self) -> ConvertOptions:
        """Return the options with the kind of the target's name; InvalidArgumentError for a conflict."""
        target = self.target
        if self.kind == "saved_model":
            format_of(target, MODELS)
        # The slash has been put there by the type of the option, also for an existing folder.
        if not target.endswith("/"):
            return self
        if self.kind not in (None, "saved_model"):
            raise conflict(target, SAVED_MODEL, f"--kind {self.kind}")
        return dataclasses.replace(self, kind="saved_model")

    @property
    def form(self) -> GraphForm:
        """Return the form of a graph's file, from the options or the extension."""
        from ...formats.saving import graph_form

        return graph_form(self.target, self.text, self.compress, None if self.kind == "saved_model" else self.kind)


class ConvertCommand(GroupedCommand):
    """The command `tfg convert`, which takes OUT as -o OUT too, as other commands that write do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Before `-o` is looked for: `--output ARG=TENSOR` is an output of a signature.
        args = list(with_named_signatures(args))
        place = next((place for place, word in enumerate(args) if word in ("-o", "--output")), None)
        if place is not None and place + 1 < len(args):
            # OUT becomes the last argument, after `--` in case its name begins with a hyphen.
            args = [*args[:place], *args[place + 2 :], "--", args[place + 1]] if "--" not in args else args
        # `--output=FILE` without its option is the argument OUT.
        return super().parse_args(ctx, [word.removeprefix("--output=") for word in args])


command = command_of(ConvertOptions, "convert_job.run", ConvertCommand)
