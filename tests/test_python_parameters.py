"""Each option of each command has a parameter, or another door, in the library."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re

import click

import tfg
from tfg.cli import main

ROOT = pathlib.Path(tfg.__file__).parent

SHOWN_ONLY = {
    "--all --format --quiet --table --top": "the printed text: Python has the whole result",
    "--open": "the browser: `GraphPage.save` writes the file",
    "--strict": "the exit code: the report has the unknown nodes and the warnings",
    "--unverified": "the exit code: without `verify` nothing is compared",
}
"""Options about terminals, files and processes, with the reason why the library has no parameter."""

LACKING = {"train --coordinator", "train --processes", "train --process"}
"""Options without a door in the library; the list only shrinks."""

READING = {
    "--function": "call_function.word", "--map-op": "map_ops.mapping", "--op-library": "load_op_library.name",
    "--tags": "load.tags", "--untrusted": "load.untrusted",
}  # fmt: skip
RUNNING = {
    "--init": "initialize.session", "--init-op": "initialize.operation", "--state": "restore.state",
    "--map": "Checkpoint.renamed", "--seed": "Session.seed",
    "--allow-files": "Session.files", "--max-memory": "Session.max_memory", "--timeout": "Session.timeout",
    "--engine": "Session.engine", "--precision": "Session.precision", "--engine-report": "Session.engine_report",
    "--verify-engine": "engine_runtime.verify", "--on": "ClusterSession.address", "--retry": "ClusterSession.retries",
    "--mesh": "engine_runtime.mesh", "--signature": "Model.signature",
}  # fmt: skip
CHOOSING = {f"--{name}": f"list_nodes.{name}" for name in ("name", "exclude", "op", "scope", "device", "to", "around", "hops")}
DOORS = {
    "cache": {"--clear": "describe_cache.clear"},
    "check": {"GRAPHS": "check.graph", "--ignore": "check.ignore", "--explain": "ProblemCode.named"},
    "checkpoint": {
        "PREFIX": "read_checkpoint.path", "--name": "Checkpoint.matching", "--stats": "Checkpoint.describe",
        "--values": "Checkpoint.get", "--output": "write_checkpoint.path", "--compare": "compare_checkpoints.second",
        "--tolerance": "compare_checkpoints.tolerance", "--tags": "read_checkpoint.tags",
        "--exclude": "Checkpoint.without", "--rename": "Checkpoint.renamed", "--sort": "Checkpoint.largest_first",
        "--average": "average_checkpoints.checkpoints", "--weights": "average_checkpoints.weights",
        "--labels": "write_checkpoint.labels", "--for": "match_checkpoint.graph",
    },
    "cluster": {
        "ADDRESS": "describe_cluster.address", "--reset": "describe_cluster.reset",
        "--container": "describe_cluster.containers",
    },
    "compare": {
        "BEFORE": "compare.before", "AFTER": "compare.after", "--passes": "compare.passes",
        "--fast-math": "compare.fast_math", "--engines": "compare.engines", "--fetch": "compare.fetches",
        "--feed": "compare.feeds", "--tolerance": "compare.tolerance", "--measured": "compare.measured",
        "--state": "compare.state", "--signature": "compare.signature",
    },
    "convert": {
        "SOURCE": "load.source", "TARGET": "convert.path", "--text": "save.text", "--gzip": "save.gzip",
        "--kind": "save.kind", "--to": "extract.outputs", "--from": "extract.inputs", "--subgraph": "extract.graph",
        "--freeze": "freeze.graph", "--keep-functions": "freeze.keep_functions", "--except": "freeze.keep_variables",
        "--inline-functions": "inline_functions.graph", "--strip-default-attrs": "strip_default_attrs.graph",
        "--clear-devices": "clear_devices.graph", "--set": "fill_placeholders.values",
        "--shape": "fill_placeholders.shapes", "--batch": "fill_placeholders.batch", "--input": "save_model.signatures",
        "--signature-output": "save_model.signatures", "--copy-signature": "save_model.copied",
        "--rename-signature": "save_model.renamed", "--drop-signature": "save_model.dropped",
        "--verify": "OnnxExport.verify", "--tolerance": "OnnxExport.verify", "--state": "convert.state",
        "--opset": "convert.opset", "--inference": "to_inference.graph", "--ema": "to_inference.averages",
        "--prepend": "prepend.kind", "--mean": "prepend.mean", "--scale": "prepend.scale",
        "--bgr": "prepend.bgr", "--append": "append.top_k",
        "--weight-type": "convert.weight_type", "--for-tensorflow": "for_tensorflow.release",
    },
    "diff": {"BEFORE": "diff.before", "AFTER": "diff.after", "--strict-names": "diff.strict_names", "--raw": "diff.raw"},
    "draw": CHOOSING
    | {
        "GRAPH": "draw.graph", "--output": "Drawing.save", "--format": "draw.format", "--function": "draw.function",
        "--functions": "draw_each.parts", "--stages": "draw_each.parts", "--depth": "draw.depth",
        "--expand": "draw.expand", "--max-nodes": "draw.max_nodes", "--all": "draw.everything", "--shapes": "draw.shapes",
        "--flops": "draw.flops", "--color-by": "draw.color_by", "--highlight": "draw.highlight",
        "--timeout": "draw.timeout", "--raw": "draw.raw", "--signature": "draw.signature",
    },
    "dump": CHOOSING
    | {
        "GRAPHS": "list_nodes.graph", "--script": "run_script.path", "--stages": "recover_stages.graph",
        "--stage": "run_script.path", "--after": "optimization_stages.graph", "--fetch": "optimization_stages.fetches",
        "--elements": "first_elements.name", "--take": "first_elements.count", "--state": "first_elements.state",
        "--seed": "first_elements.seed", "--sort": "list_nodes.order", "--shapes": "list_nodes.shapes",
        "--model": "model_view.graph", "--signature": "model_view.signature",
    },
    "explain": {
        "GRAPH": "explain.graph", "NODES": "explain.nodes", "--fetch": "explain.fetch", "--optimized": "node_fates.names",
        "--fast-math": "node_fates.fast_math", "--missing": "missing_ops.graph", "--engine": "explain_engine.engine",
        "--races": "explain_races.graph", "--partition": "explain_partition.graph", "--signature": "explain.signature",
        "--raw": "explain.raw",
        "--shape": "fill_placeholders.shapes", "--batch": "fill_placeholders.batch",
    },
    "flops": {
        "GRAPH": "flops.graph", "--fetch": "flops.fetches", "--feed": "flops.feeds", "--shape": "flops.shapes",
        "--batch": "flops.batch", "--size": "flops.sizes", "--trips": "flops.trips", "--backward": "flops.backward",
        "--loss": "flops.loss", "--wrt": "flops.wrt", "--per-variable": "FlopsCounter.by_variable",
        "--view": "flops_rows.view", "--depth": "flops_rows.depth", "--name": "FlopsReport.select",
        "--op": "FlopsReport.select", "--threshold": "FlopsReport.select", "--compat": "FlopsCounter.beside_profiler",
        "--run-metadata": "FlopsCounter.run_metadata", "--measured": "profile.graph", "--warmup": "profile.warmup",
        "--runs": "profile.runs", "--trace": "Measurement.trace", "--on": "FlopsCounter.measure_on_cluster",
        "--state": "profile.state",
    },
    "grad": {
        "GRAPH": "gradients.graph", "--y": "gradients.ys", "--x": "gradients.xs", "--grad-y": "gradients.grad_ys",
        "--stop": "gradients.stop_gradients", "--override": "override_gradients.overrides",
        "--colocate": "gradients.colocate", "--output": "save.path",
        "--text": "save.text", "--check": "check_gradient.graph", "--tolerance": "check_gradient.tolerance",
        "--jacobian": "jacobian.graph", "--mode": "jacobian.mode", "--vjp": "vjp.v", "--jvp": "jvp.v",
        "--hessian-vector": "hessian_vector.v", "--feed": "jacobian.feeds",
    },
    "join": {
        "FIRST": "join.first", "SECOND": "join.second", "--output": "save.path", "--connect": "join.connect",
        "--first-prefix": "join.first_prefix", "--second-prefix": "join.second_prefix",
        "--first-state": "join.first_state", "--second-state": "join.second_state", "--signature": "join.signature",
    },
    "layers": {
        "GRAPH": "layers.graph", "--fetch": "layers.fetches", "--shape": "layers.shapes", "--batch": "layers.batch",
        "--sort": "LayersReport.largest_first", "--tree": "LayersReport.tree",
        "--size": "layers.sizes", "--trips": "layers.trips",
        "--measured": "layers.measured", "--feed": "profile.feeds", "--state": "profile.state",
    },
    "ops": {
        "NAMES": "ops.names", "--family": "ops.family", "--missing-kernel": "ops.missing_kernel", "--custom": "ops.custom",
        "--coverage": "op_coverage", "--flops": "flops_formulas.ops", "--missing": "missing_parts.graph",
        "--wrap": "write_wrappers.ops", "--output": "write_wrappers.ops",
    },
    "optimize": {
        "GRAPH": "optimize.graph", "--output": "save.path", "--text": "save.text", "--save-model": "save_model.path",
        "--fetch": "optimize.fetches", "--feed": "optimize.feeds", "--set": "fill_placeholders.values",
        "--shape": "fill_placeholders.shapes", "--batch": "fill_placeholders.batch", "--passes": "optimize.passes",
        "--disable": "optimize.disable", "--fast-math": "optimize.fast_math", "--portable": "optimize.portable",
        "--cluster": "OptimizeReport.clusters", "--keep": "optimize.keep",
        "--fed": "optimize.feeds", "--overridable": "optimize.overridable", "--verify": "verify.after",
        "--tolerance": "verify.tolerance", "--steps": "verify.steps", "--state": "verify.state",
        "--costs": "optimize.costs", "--list": "list_passes",
    },
    "path": {
        "GRAPH": "path.graph", "START": "path.start", "END": "path.end", "--raw": "path.raw",
        "--signature": "path.signature",
    },
    "reduce": {
        "GRAPH": "reduce.graph", "--fetch": "reduce.fetches", "--test": "reduce.fails", "--output": "save.path",
        "--feed": "reduce.feeds", "--state": "reduce.state",
    },
    "run": {
        "GRAPH": "Session.graph", "--fetch": "Session.run", "--feed": "Session.run", "--target": "Session.run",
        "--input-examples": "Model.__call__", "--steps": "Session.run", "--fetch-every": "Session.run",
        "--assign": "Session.variables",
        "--assign-add": "Session.variables", "--assign-sub": "Session.variables", "--save-state": "write_checkpoint.path",
        "--save-model": "save_model.path", "--output": "write_checkpoint.path", "--each": "run_each.inputs",
        "--sweep": "run_each.sweep", "--keep-going": "run_each.keep_going", "--cache-stats": "Session.cache_stats",
        "--optimize": "Session.optimize", "--check-numerics": "check_numerics", "--top-k": "top_classes.k",
        "--labels": "read_labels.path", "--profile": "KernelRecorder.measurement", "--out-dir": "run_batch.out_dir",
        "--overwrite": "run_batch.overwrite", "--shard-size": "run_batch.shard_size",
        "--shape": "fill_placeholders.shapes", "--batch": "fill_placeholders.batch",
    },
    "scalars": {"LOGS": "read_events.path", "--tag": "read_events.tag", "--output": "EventLog.save"},
    "train": {
        "GRAPH": "train.graph", "--loss": "train.loss", "--var": "train.variables", "--optimizer": "train.optimizer",
        "--lr": "train.lr", "--hyperparameter": "train.settings", "--schedule": "train.schedule",
        "--clip": "train.clipping", "--steps": "train.steps", "--feed": "train.feeds", "--batch": "train.batch",
        "--state": "train.state", "--seed": "train.seed", "--save-state": "train.save_state",
        "--checkpoint-every": "train.checkpoint_every", "--resume": "train.resume", "--save-model": "save_model.path",
        "--output": "save.path", "--text": "save.text", "--dump-stages": "TrainingReport.stages",
    },
    "unfreeze": {
        "FROZEN": "unfreeze.graph", "--output": "save_model.path", "--variable": "unfreeze.variables",
        "--to": "unfreeze.outputs", "--verify": "verify.after", "--tolerance": "verify.tolerance",
    },
    "view": {
        "GRAPH": "view.graph", "--output": "GraphPage.save", "--fetch": "view.fetches", "--no-flops": "view.flops",
        "--diff": "view.diff", "--overlay": "view.overlays", "--run-metadata": "view.run_metadata",
        "--measured": "view.measured", "--feed": "view.feeds", "--values": "view.values", "--each": "view.each",
        "--steps": "view.steps", "--labels": "view.labels", "--max-values": "view.max_values", "--state": "view.state",
        "--raw": "view.raw", "--shape": "fill_placeholders.shapes", "--batch": "fill_placeholders.batch",
    },
}  # fmt: skip
"""The door to each option in Python: FUNCTION.PARAMETER, CLASS.MEMBER, or a function without parameters."""
TERMINAL_ONLY = {"completion", "samples"}
"""Commands that copy files and write the shell's completion."""
ALONE = {word for words in SHOWN_ONLY for word in words.split()}


def options_of(command: str) -> list[str]:
    """Return the options and arguments that a command gets; the options of all commands, such as --color, go elsewhere."""
    parameters = importlib.import_module(f"tfg.cli.commands.{command}").command.params
    return [
        max(p.opts, key=len) if isinstance(p, click.Option) else (p.name or "").upper() for p in parameters if p.expose_value
    ]


def door(command: str, option: str) -> str | None:
    return {**READING, **RUNNING, **DOORS[command]}.get(option)


OPTIONS = [(command, option) for command in DOORS for option in options_of(command)]


def test_every_command_is_in_the_table():
    assert {*DOORS, *TERMINAL_ONLY} == set(main.commands())


def has_door(command: str, option: str) -> bool:
    """Return True if the function has the parameter, or the class the member; options of the terminal alone have a reason."""
    words = door(command, option)
    if words is None:
        return (option in ALONE) != (f"{command} {option}" in LACKING)
    owner, _, member = words.partition(".")
    exported = getattr(tfg, owner) if owner in tfg.__all__ else None
    return exported is not None and (
        not member or member in inspect.signature(exported).parameters or hasattr(exported, member)
    )


def test_every_option_has_a_door():
    assert not [pair for pair in OPTIONS if not has_door(*pair)]


def test_the_table_has_no_option_that_is_gone():
    options = {option for _, option in OPTIONS}
    stated = {(command, option) for command, doors in DOORS.items() for option in doors}
    assert not stated - set(OPTIONS)
    assert not LACKING - {" ".join(pair) for pair in OPTIONS} and not ALONE - options
    general = {"--untrusted"}  # the root command adds it to each command that it finds
    assert not {*READING, *RUNNING} - options - general


def test_the_guide_and_the_reference_name_every_door():
    guide = "".join(page.read_text() for page in (ROOT / "docs" / "python.md", *(ROOT / "docs" / "api").glob("*.md")))
    owners = {words.partition(".")[0] for command, option in OPTIONS if (words := door(command, option)) is not None}
    assert not [owner for owner in owners if not re.search(rf"\btfg\.{owner}\b", guide)]
