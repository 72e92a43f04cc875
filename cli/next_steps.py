"""The steps of hints in the words of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from ..core.support.hints import GraphFile, Hint, Words


def in_commands(text: str) -> str:
    """Return a text with the options and command lines of its steps; a text without steps stays."""
    return text.spelled(IN_COMMANDS, _quoted) if isinstance(text, Hint) else text


def _quoted(value: object) -> str:
    return shlex.quote(str(value))


def _option(name: str, value: str | None) -> str:
    return f"--{name}" if value is None else f"--{name} {_quoted(value)}"


def _command(name: str, argument: str | None) -> str:
    return f"`tfg {name}`" if argument is None else f"`tfg {name} {_quoted(argument)}`"


def _repeated(name: str, pairs: Mapping[str, str]) -> list[str]:
    """Return an option for each pair."""
    return [_option(name, f"{key}={value}") for key, value in pairs.items()]


def _pairs(name: str, pairs: Mapping[str, str]) -> str:
    return f"`{' '.join(_repeated(name, pairs))}`"


def _shape(name: str, sizes: str | Sequence[int | None]) -> str:
    text = sizes if isinstance(sizes, str) else ",".join("?" if size is None else str(size) for size in sizes)
    return f"--shape {_quoted(name)}={text}"


def _line(file: GraphFile, command: str, *options: str) -> str:
    return " ".join([*(["tfg", "--untrusted"] if file.is_untrusted else ["tfg"]), command, _quoted(file.path), *options])


def _call(file: GraphFile, name: str, is_function: bool, feeds: Mapping[str, str]) -> str:
    called = _option("function" if is_function else "signature", name)
    return _line(file, "run", called, *_repeated("feed", feeds))


def _run(
    file: GraphFile, begins: bool, assigned: Mapping[str, str], target: str | None, fetches: Sequence[str],
    steps: int | str | None, feeds: Mapping[str, str],
) -> str:  # fmt: skip
    options = [*(["--init"] if begins else []), *_repeated("assign", assigned)]
    options += [_option("target", target)] if target is not None else []
    options += [_option("fetch", name) for name in fetches]
    options += [_option("steps", str(steps))] if steps is not None else []
    return _line(file, "run", *options, *_repeated("feed", feeds))


def _look(file: GraphFile, what: str) -> str:
    return _line(file, *_LOOKS.get(what, (what,)))


_LOOKS: Final[Mapping[str, tuple[str, ...]]] = {
    "missing": ("explain", "--missing"),
    "nodes": ("dump",),
    "stages": ("dump", "--stages"),
}
"""The commands and options of looks at a graph that are not called as the command is."""
IN_COMMANDS: Final[Mapping[str, Words]] = {
    "option": _option,
    "command": _command,
    "feed": lambda feeds: _pairs("feed", feeds),
    "allow_files": "`--allow-files {folder}`",
    "any_batch": "`tfg convert GRAPH OUT --batch '?'`",
    "assign": "`--assign {variable}=VALUE`",
    "call": _call,
    "draw_less": "--max-nodes, --scope, --around, a smaller --depth",
    "drop_signature": "--drop-signature {name}",
    "each": lambda tensor, files: f"`--each {_quoted(files)} --feed {_quoted(f'{tensor}=@each')}`",
    "each_columns": "TENSOR=@each:COLUMN,COLUMN, or all with @each:*",
    "each_tensor": "--feed TENSOR=@each",
    "explain_node": lambda file, node: _line(file, "explain", _quoted(node)),
    "extract": "`tfg convert --from TENSOR --to TENSOR`",
    "extract_output": "`tfg convert GRAPH OUT --to OUTPUT`",
    "extract_from": "`tfg convert GRAPH OUT --from {tensor} --to OUTPUT`",
    "fetch": "`tfg run --fetch`",
    "feed_file": "`tfg run GRAPH --feed x=@FILE.npy`",
    "find_name": "`tfg dump GRAPH --name {name}`",
    "find_op": "`tfg dump GRAPH --op {op}`",
    "for_tensorflow": "--for-tensorflow {release}",
    "freeze": "`tfg convert --freeze`",
    "here": "leave out --on",
    "initialize": "`tfg run --init`",
    "inline_functions": "`tfg convert --inline-functions`",
    "input": "--from {name}",
    "list_nodes": "`tfg dump GRAPH --format list`",
    "list_passes": "`tfg optimize --list`",
    "load_op_library": "`--op-library FILE`",
    "look": _look,
    "make_placeholder": "`tfg convert --from {tensor}`",
    "map_ops": lambda ops: _pairs("map-op", ops),
    "missing_ops": "`tfg explain GRAPH --missing`",
    "name_tensor": "`tfg checkpoint PREFIX --name TENSOR`",
    "optimize": "`tfg optimize GRAPH -o OUT --passes {passes}`",
    "run": _run,
    "save_state": "`tfg run --save-state PREFIX`",
    "set": "--set {name}=VALUE",
    "several": lambda names: f"repeat the option for each, such as {' '.join(_option('fetch', name) for name in names)}",
    "shape": _shape,
    "size": "--size {size}=NUMBER",
    "state": "`--state {path}`",
    "timings": "`tfg flops GRAPH --run-metadata FILE`",
    "traced_input": "add --from {name}",
    "trips": "--trips {loop}=NUMBER",
    "value_place": lambda option, name: f"--{option} {name}",
    "verify_apart": "`tfg --untrusted convert --verify`",
    "write": lambda formats: " or ".join(_WRITERS[one.name] for one in formats),
}
"""The words of each kind of step in `core/support/hints`."""
_WRITERS: Final[Mapping[str, str]] = {
    "binary GraphDef": "`tfg convert GRAPH FILE.pb`",
    "GraphDef as text": "`tfg convert GRAPH FILE.pbtxt`",
    "MetaGraphDef": "`tfg convert GRAPH FILE.meta`",
    "SavedModel": "`tfg convert GRAPH FOLDER/`, and `--save-model` of run, train and optimize",
    "ONNX model": "`tfg convert GRAPH FILE.onnx`",
    "StableHLO program": "`tfg convert GRAPH FILE.stablehlo`",
    "TensorFlow.js model": "`tfg convert GRAPH FOLDER/model.json`",
    "checkpoint": "`tfg run GRAPH --save-state PREFIX.ckpt`",
    "NumPy archive": "`tfg run GRAPH --save-state FILE.npz`, or `-o FILE.npz`",
    "safetensors file": "`tfg run GRAPH --save-state FILE.safetensors`",
    "NumPy array": "`tfg run GRAPH -o FILE.npy`",
    "TFRecord file": "`tfg run GRAPH --each FILES -o FILE.tfrecord`",
    "JSON lines": "`tfg run GRAPH --each FILES -o FILE.jsonl`",
    "Parquet": "`tfg run GRAPH --each FILES -o FILE.parquet`",
    "Arrow file": "`tfg run GRAPH --each FILES -o FILE.arrow`",
    "JSON": "`tfg run GRAPH -o FILE.json`",
    "CSV": "`tfg run GRAPH -o FILE.csv`, and `tfg scalars LOGS -o FILE.csv`",
    "values between tabs": "`tfg checkpoint PREFIX --name TENSOR -o FILE.tsv`",
    "table as text": "`tfg run GRAPH -o FILE.txt`",
    "Graphviz source": "`tfg draw GRAPH -o FILE.dot`",
    "SVG": "`tfg draw GRAPH -o FILE.svg`",
    "PNG": "`tfg draw GRAPH -o FILE.png`",
    "PDF": "`tfg draw GRAPH -o FILE.pdf`",
    "drawing as text": "`tfg draw GRAPH -o FILE.txt`",
    "HTML page": "`tfg view GRAPH -o FILE.html`",
    "Python source": "`tfg ops NAME --wrap -o FILE.py`",
    "Chrome trace": "`tfg run GRAPH --profile FILE.json`, and `tfg flops GRAPH --measured --trace FILE.json`",
}
"""The command lines that write each format of `core/support/file_formats`."""
