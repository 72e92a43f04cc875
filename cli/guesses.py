"""First guesses: words that people type before they know tfg's commands, and the command line that each word stands for."""

from __future__ import annotations

import glob
import itertools
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import click

from ..core.support.hints import Blank, Hint, HintStep, option, step

_SLOT: Final = re.compile(r"\{(\d)(?::([^}]*))?\}")
"""A place in a command line for the argument of that number, and behind a colon a file name to suggest."""
_ENDING: Final = re.compile(r"(?<=\w{3})(ations?|ing|ers?|e[ds]?|s)$")
"""The ending of a grammatical form, behind at least three letters."""
_MIN_LETTERS: Final = 5
_MAX_NAMED: Final = 3
"""The number of unexpected arguments that an error lists."""
_REST: Final = "{}"
"""The place of all arguments that no slot takes."""
_RESTORES: Final = (option("state", Blank("FILE")), step("state", path=Blank("FILE")))
"""The steps that restore a state, for which the checkpoint beside a graph may serve."""
_FIND: Final = "dump {1} --name={2} --format=list {}"
"""The line that finds nodes by a part of the name; --op takes the place of --name for the name of an op."""

ALIASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("summarize", "info", "inspect", "describe", "show", "signatures", "inputs", "outputs"), "explain"),
    **dict.fromkeys(("assets", "vocabulary"), "explain"),
    **dict.fromkeys(("signature", "metadata", "memory", "what", "why", "functions", "events"), "explain"),
    **dict.fromkeys(("scalar", "curves", "metrics", "losses"), "scalars"),
    **dict.fromkeys(("unsupported", "missing"), "explain {} --missing"),
    **dict.fromkeys(("placement", "devices", "partition"), "explain {} --partition"),
    "races": "explain {} --races",
    **dict.fromkeys(("paths", "route", "reach", "reaches"), "path"),
    **dict.fromkeys(("list", "ls", "cat", "print", "nodes"), "dump"),
    "shapes": "dump {} --shapes",
    "stages": "dump {} --stages",
    **dict.fromkeys(("grep", "find", "search"), _FIND),
    **dict.fromkeys(("plot", "graph", "visualize", "render", "picture"), "draw"),
    **dict.fromkeys(("dot", "graphviz"), "draw {} --format=dot"),
    **dict.fromkeys(("browse", "open", "page", "html", "netron", "tensorboard"), "view"),
    **dict.fromkeys(("export", "save"), "convert {1} {2:graph.pb} {}"),
    **dict.fromkeys(("onnx", "tf2onnx"), "convert {1} {2:model.onnx} {}"),
    **dict.fromkeys(("stablehlo", "jax", "to_jax"), "convert {1} {2:model.stablehlo} {}"),
    **dict.fromkeys(("text", "pbtxt"), "convert {1} {2:graph.pbtxt} {}"),
    **dict.fromkeys(("tfjs", "tensorflowjs"), "convert {1} {2:web/model.json} {}"),
    "freeze": "convert {1} {2:frozen.pb} --freeze {}",
    **dict.fromkeys(("extract", "subgraph", "cut", "slice"), "convert {1} {2:part.pb} --subgraph {}"),
    **dict.fromkeys(("thaw", "finetune", "fine-tune"), "unfreeze {1} --output={2:model} {}"),
    **dict.fromkeys(("merge", "combine", "connect"), "join"),
    **dict.fromkeys(("prepend", "preprocess"), "convert {1} {2:served/} --prepend=image {}"),
    **dict.fromkeys(("append", "postprocess"), "convert {1} {2:labelled/} --append=top_k=5 {}"),
    "inline": "convert {1} {2:inlined.pb} --inline-functions {}",
    **dict.fromkeys(("strip", "prune", "strip_unused"), "optimize {1} --passes=prune --output={2} {}"),
    "fold": "optimize {1} --passes=prune,fold --output={2} {}",
    **dict.fromkeys(("quantize", "int8"), "optimize {1} --passes=quantize_weights --output={2} {}"),
    **dict.fromkeys(("float16", "fp16", "half"), "optimize {1} --passes=float16 --output={2} {}"),
    **dict.fromkeys(("bfloat16", "bf16"), "optimize {1} --passes=bfloat16 --output={2} {}"),
    "rename": "optimize {1} --passes=rename{node={2:OLD}:{3:NEW}} --output={4:renamed.pb} {}",
    **dict.fromkeys(("simplify", "optimise", "grappler", "fuse"), "optimize"),
    **dict.fromkeys(("cost", "count", "macs", "params", "parameters"), "flops"),
    **dict.fromkeys(("layer", "model", "summary"), "layers"),
    **dict.fromkeys(("tree", "structure", "architecture"), "layers {} --tree"),
    **dict.fromkeys(("scope", "scopes"), "flops {} --view=scope"),
    **dict.fromkeys(("profile", "time", "bench", "benchmark"), "flops {} --measured"),
    **dict.fromkeys(("trace", "timeline"), "run {1} --profile={2:trace.json} {}"),
    **dict.fromkeys(("execute", "eval", "predict", "infer", "inference", "serve"), "run"),
    **dict.fromkeys(("classify", "top", "topk"), "run {} --top-k=5"),
    **dict.fromkeys(("nan", "nans", "numerics"), "run {} --check-numerics"),
    **dict.fromkeys(("validate", "lint", "verify", "doctor"), "check"),
    **dict.fromkeys(("gradient", "gradients", "jacobian", "differentiate"), "grad"),
    **dict.fromkeys(("ckpt", "weights", "variables", "vars", "tensors"), "checkpoint"),
    **dict.fromkeys(("histogram", "histograms", "stats", "statistics"), "checkpoint {} --stats"),
    "safetensors": "checkpoint {1} --output={2:weights.safetensors} {}",
    "average": "checkpoint {1} --average={2} {}",
    "npz": "checkpoint {1} --output={2:weights.npz} {}",
    **dict.fromkeys(("fit", "learn"), "train"),
    **dict.fromkeys(("bisect", "minimize", "shrink"), "reduce"),
    **dict.fromkeys(("kernels", "registry"), "ops"),
    "examples": "samples",
    "version": "--version",
}
"""Command lines by common words of other tools; arguments follow if the line has no placeholders."""

OPTIONS: Final[Mapping[tuple[str, str], str]] = {
    **dict.fromkeys((("run", "--trace"), ("run", "--timeline")), "run {1} --profile trace.json"),
    **dict.fromkeys((("flops", "--by"), ("flops", "--per-layer"), ("flops", "--layers")), "flops {1} --view layer"),
    **dict.fromkeys((("flops", "--profile"), ("flops", "--time")), "flops {1} --measured"),
    **dict.fromkeys((("optimize", "--freeze"), ("convert", "--variables")), "convert {1} frozen.pb --freeze"),
    ("run", "--input_examples"): "run {1} --input-examples {value}",
    ("convert", "--connect"): "join {1} SECOND -o both.pb --connect {value}",
    ("convert", "--quantize"): "optimize {1} --passes quantize_weights -o small.pb",
    **dict.fromkeys((("convert", "--to-tfjs"), ("convert", "--tfjs")), "convert {1} web/model.json"),
    **dict.fromkeys((("convert", "--dtype"), ("convert", "--fp16")), "optimize {1} --passes float16 -o small.pb"),
    **dict.fromkeys((("convert", "--feed"), ("convert", "-f")), "convert {1} graph.pb --set {value}"),
    **dict.fromkeys((("convert", "--rename"), ("optimize", "--rename")), "optimize {1} --passes 'rename{node=OLD:NEW}'"),
    **dict.fromkeys((("explain", "--variables"), ("explain", "--weights")), "checkpoint {1}"),
    **dict.fromkeys((("check", "--missing"), ("check", "--unsupported")), "explain {1} --missing"),
    **dict.fromkeys((("draw", "--html"), ("draw", "--open")), "view {1}"),
    **dict.fromkeys((("checkpoint", "--graph"), ("checkpoint", "--against")), "checkpoint {1} --for {value}"),
    **dict.fromkeys((("checkpoint", "--drop"), ("checkpoint", "--except")), "checkpoint {1} --exclude {value}"),
    **dict.fromkeys((("checkpoint", "--print"), ("checkpoint", "--show")), "checkpoint {1} --values NAME"),
    **dict.fromkeys((("checkpoint", "--histogram"), ("checkpoint", "--statistics")), "checkpoint {1} --stats"),
    ("explain", "--memory"): "explain {1}",
    **dict.fromkeys((("train", "--set"), ("train", "--param")), "train {1} --loss LOSS --hyperparameter NAME=NUMBER"),
    ("view", "--embed"): "view {1} --max-values 20M",
    **dict.fromkeys((("draw", "--fetch"), ("draw", "-F")), "draw {1} --to NAME"),
}
"""Command lines by options that users expect of a command; {1} is the graph, {value} the value of the option."""


class Guess(click.UsageError):
    """Wrong usage that comes with the command line to type instead."""

    def __init__(self, message: str, line: str, ctx: click.Context) -> None:
        super().__init__(message, ctx)
        self.hint = f"try `{line}`"


def resolve(words: Sequence[str], names: Sequence[str], ctx: click.Context) -> list[str]:
    """Return the command line for words that do not start with the name of a command.

    Raise Guess if the line needs a missing argument, or if the first word is a slip or another form of a known word.
    """
    from . import render

    word, *arguments = words
    alias = ALIASES.get(word.lower())
    if alias == _FIND and len(arguments) > 1 and _is_op(arguments[1]):
        alias = alias.replace("--name", "--op")
    # `tfg version graph.pb` asks for the versions of the graph, which explain shows.
    elif alias == "--version" and arguments:
        alias = "explain"
    # A file with the name of an alias is a graph to explain, unless more words say otherwise.
    if alias is not None and (arguments or alias == "--version" or not os.path.exists(word)):
        line = list(_filled(alias, word, arguments, ctx))
    elif _is_graph(word):
        line = ["explain", *words]
    else:
        meant = _meant(word.lower(), names)
        if meant is None:
            raise click.UsageError(f"unknown command '{word}'", ctx)
        raise Guess(f"unknown command '{word}'. Did you mean '{meant}'?", _line([meant, *arguments]), ctx)
    # Programs ask for the version, and read what is printed.
    is_quiet = line[0] == "--version" or "-q" in arguments or "--quiet" in arguments
    render.note(f"this is `{_line(line)}`", is_quiet)
    return line


def _meant(word: str, commands: Sequence[str]) -> str | None:
    """Return the command or alias that a word stands for; None if words are only spelled alike, such as delete and execute.

    A slip in a short word makes another word (test, text): of these only a command is guessed.
    """
    # Commands come first: a slip that fits a command and an alias means the command.
    slips = (name for name in (*commands, *ALIASES) if _is_slip(word, name))
    forms = (name for name in (*commands, *ALIASES) if _stem(word) == _stem(name))
    likely = (name for name in slips if name in commands or max(len(word), len(name)) >= _MIN_LETTERS)
    return next(likely, None) or next(forms, None)


def _is_slip(word: str, name: str) -> bool:
    """Return True if one letter behind the first is missing, wrong or too many, or two letters are swapped."""
    short, long = sorted((word, name), key=len)
    same = next((place for place, letters in enumerate(zip(short, long)) if len(set(letters)) > 1), len(short))
    # The first letter is seldom mistyped, and words that differ there are other words: run and prun, fold and hold.
    if same == 0:
        return False
    # A letter too few or too many: after it the words agree. Two words of one length differ in a letter, or by a swap.
    if len(short) < len(long):
        return short[same:] == long[same + 1 :]
    swapped = f"{long[same + 1 : same + 2]}{long[same : same + 1]}{long[same + 2 :]}"
    return short[same + 1 :] == long[same + 1 :] or short[same:] == swapped


def _stem(word: str) -> str:
    """Return a word without an ending of its grammatical form: prune, pruning and pruned have one stem."""
    return _ENDING.sub("", word)


def option_hint(option: str, words: Sequence[str]) -> str | None:
    """Return the command line for an option that its command lacks; None for an unexpected option."""
    line = OPTIONS.get((words[0], option))
    # The first word that is no option: good enough for a line that the user reads before typing it.
    graph = next((word for word in words[1:] if not word.startswith("-")), "GRAPH")
    if line is None:
        return None
    value = next((after for word, after in itertools.pairwise(words) if word == option and "=" in after), "NAME=VALUE")
    return f"try `tfg {line.replace('{1}', shlex.quote(graph)).replace('{value}', shlex.quote(value))}`"


def state_hint(hint: Hint, words: Sequence[str]) -> Hint:
    """Return a hint to restore a state with the checkpoint that lies beside the graph of a command line, if there is one."""
    from ..formats.checkpoint.store import checkpoint_beside

    graph = next(filter(os.path.isfile, words), None) if any(part in _RESTORES for part in hint.parts) else None
    prefix = None if graph is None else checkpoint_beside(graph)
    if prefix is None:
        return hint
    return Hint(*(_restoring(part, prefix) for part in hint.parts), f"; '{prefix}' lies beside the graph")


def _restoring(part: str | HintStep, prefix: str) -> str | HintStep:
    """Return a part of a hint, with a checkpoint for the file to restore."""
    if isinstance(part, str) or part not in _RESTORES:
        return part
    return part._replace(values={name: prefix if value == Blank("FILE") else value for name, value in part.values.items()})


def extra_arguments(message: str, words: Sequence[str], ctx: click.Context | None) -> tuple[str, str | None]:
    """Return click's message on unexpected arguments, with a few of them, and the next step if one is known."""
    # click gives the arguments only in the text of its message.
    extra = re.sub(r"^[^(]*\(|\)$", "", message).split(" ")
    if len(extra) > _MAX_NAMED:
        message = f"Got unexpected extra arguments ({' '.join(extra[:_MAX_NAMED])} ...)"
    return message, _feed_hint(extra, words, ctx) or _compare_hint(extra, words, ctx) or _pattern_hint(words)


def _feed_hint(extra: Sequence[str], words: Sequence[str], ctx: click.Context | None) -> str | None:
    """Return the command line with --feed for arguments NAME=VALUE; None for other arguments, and without such an option."""
    takes_feeds = ctx is not None and any("--feed" in parameter.opts for parameter in ctx.command.params)
    if not takes_feeds or not all("=" in word and word in words for word in extra):
        return None
    return _with_option("--feed", extra, words)


def _compare_hint(extra: Sequence[str], words: Sequence[str], ctx: click.Context | None) -> str | None:
    """Return the command line with --compare for a second file; None for other arguments, and without such an option."""
    compares = ctx is not None and any("--compare" in parameter.opts for parameter in ctx.command.params)
    if not compares or len(extra) != 1 or extra[0] not in words:
        return None
    return _with_option("--compare", extra, words)


def _with_option(name: str, extra: Sequence[str], words: Sequence[str]) -> str:
    """Return the command line in which the extra arguments are values of an option."""
    return f"try `{_line([part for word in words for part in ((name, word) if word in extra else (word,))])}`"


def _pattern_hint(words: Sequence[str]) -> str | None:
    """Return how to write the pattern of which a shell made the names of files behind --each; None without such files."""
    behind = words[words.index("--each") + 1 :] if "--each" in words else ()
    files = list(itertools.takewhile(os.path.exists, behind))
    if len(files) < 2:
        return None
    folders, endings = {os.path.dirname(file) for file in files}, {os.path.splitext(file)[1] for file in files}
    pattern = os.path.join(glob.escape(min(folders)), f"*{min(endings) if len(endings) == 1 else ''}")
    # Only a pattern that matches the same files is proposed.
    shown = shlex.quote(pattern) if set(glob.glob(pattern)) == set(files) else "'PATTERN'"
    return f"quote the pattern, so that the shell leaves it to tfg: --each {shown}"


def _line(words: Sequence[str]) -> str:
    return f"tfg {shlex.join(words)}"


def _is_graph(word: str) -> bool:
    """True for a word that names a file or an op type rather than a command."""
    return word == "-" or re.search(r"[./\\]", word) is not None or os.path.exists(word) or _is_op(word)


def _is_op(word: str) -> bool:
    from ..core.op_libraries.op_listing import is_declared

    return is_declared(word)


def _filled(alias: str, word: str, arguments: Sequence[str], ctx: click.Context) -> Iterator[str]:
    """Yield the words of a command line with the arguments in their places."""
    if _REST not in alias.split():
        alias = f"{alias} {_REST}"
    # Slots are for names of files, which stand before the first option; `-` is standard input.
    leading = next((place for place, text in enumerate(arguments) if text.startswith("-") and text != "-"), len(arguments))
    slots = [int(match[1]) for match in _SLOT.finditer(alias)]
    used = min(leading, max(slots, default=0))
    missing = [match for match in _SLOT.finditer(alias) if int(match[1]) > used and match[2]]
    if missing and used:
        suggested = [*arguments[:used], *(match[2] for match in missing), *arguments[used:]]
        needed = "the name of the file to write" if len(missing) == 1 else f"{len(missing)} more names"
        raise Guess(f"'{word}' needs {needed}", _line([word, *suggested]), ctx)
    for part in alias.split():
        if part == _REST:
            yield from arguments[used:]
        elif all(int(match[1]) <= used for match in _SLOT.finditer(part)):
            yield _SLOT.sub(lambda match: arguments[int(match[1]) - 1], part)
