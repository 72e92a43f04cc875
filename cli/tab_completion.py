"""Shell completion: the scripts of the shells at whose Tab key `tfg` answers, the words that they send, and the names that are
offered: of the nodes, tensors and signatures of the graph on the command line, of passes and engines.

`eval "$(tfg completion bash)"` enables completion in bash; zsh and fish work the same way.

A name of a graph is text of a stranger. zsh and fish quote the words that a completion adds; bash inserts them into the
command line as they are, so for bash the quoting happens here. A name that a prompt cannot show as a line is not offered.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete, add_completion_class

from ..core.graph.graph import Graph
from ..core.support import dataclasses
from ..core.support.engine_names import AUTO, NUMPY
from ..core.support.errors import TfgError
from ..core.support.escaping import printable_line
from .options import FILE_METAVARS

# bash sends the line up to the cursor, and tfg splits it: bash's own words also break at `=` and `:`, which feeds and names
# of tensors have. With nosort the order of the answer stays, in which outputs and layers come first.
_BASH: Final = """\
%(complete_func)s() {
    local -a answer
    mapfile -t answer < <(%(complete_var)s=bash_complete COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORD="$2" \\
        "$1" 2> /dev/null < /dev/null)
    if [[ ${answer[0]} == file ]]; then
        compopt -o default
        COMPREPLY=()
    else
        COMPREPLY=("${answer[@]:1}")
    fi
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
# -U adds words whatever the user has typed, as the program chooses them; zsh quotes them for the place of the cursor.
_ZSH: Final = """\
#compdef %(prog_name)s

%(complete_func)s() {
    (( ! $+commands[%(prog_name)s] )) && return 1
    local -a answer names described
    local line current="$PREFIX"
    [[ -z "$QIPREFIX" ]] && current="${(Q)PREFIX}"
    answer=("${(@f)$(%(complete_var)s=zsh_complete %(prog_name)s "${(@Q)words[2,CURRENT-1]}" "$current" \\
        2> /dev/null < /dev/null)}")
    if [[ "$answer[1]" == file ]]; then
        compset -P 1 '--*='
        _files
        return
    fi
    for line in "${(@)answer[2,-1]}"; do
        if [[ "$line" == *$'\\t'* ]]; then
            described+=("${${line%%%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
        elif [[ -n "$line" ]]; then
            names+=("$line")
        fi
    done
    (( $#described )) && _describe -V unsorted described -U
    (( $#names )) && compadd -U -V unsorted -a names
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""
# The word at the cursor is sent without its quotes, since tfg compares it with plain names.
_FISH: Final = """\
function %(complete_func)s
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer (env %(complete_var)s=fish_complete %(prog_name)s $words[2..] (string unescape -- "$current") \\
        2> /dev/null < /dev/null)
    if test "$answer[1]" = file
        complete --do-complete "'' $current"
    else
        string join -- \\n $answer[2..]
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


@dataclasses.dataclass(frozen=True, slots=True)
class _LineEnd:
    """The end of a command line in bash: the words before, the last word, and the quote that is open."""

    words: list[str]
    current: str
    quote: str


class _Answers(ShellComplete):
    """The answer to a shell: `file`, where the shell completes the name of a file, or `plain` and a name a line."""

    def complete(self) -> str:
        """Return the answer to the shell."""
        args, incomplete = self.get_completion_args()
        items = self.get_completions(args, incomplete)
        if any(item.type == "file" for item in items):
            return "file"
        # click returns names alone: for a word `--option=VALUE`, the part before the value is put back.
        option, equals, _ = incomplete.partition("=")
        option = option + equals if equals and option.startswith("--") and "--" not in args else ""
        whole = (CompletionItem(option + item.value, help=item.help) for item in items if self.can_insert(item.value))
        # The first line tells the two kinds of answers apart: a node may be called `file`.
        return "\n".join(["plain", *(self.format_completion(item) for item in whole)])

    def can_insert(self, name: str) -> bool:
        """Return whether a prompt can show the name: not if it has a line feed, an escape or a reversal of direction."""
        return printable_line(name) == name

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return the line of a name; a description follows a tab."""
        return f"{item.value}\t{' '.join(item.help.split())}" if item.help else item.value


class _Words(_Answers):
    """A shell that sends its words, without their quotes, as arguments."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the word at the cursor."""
        *args, incomplete = sys.argv[1:] or [""]
        return args, incomplete


class Bash(_Answers, BashComplete):
    """bash: sends the line as typed, and takes the rest of the word with its quoting."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the word at the cursor."""
        place = _read(os.environ["COMP_LINE"])
        return place.words[1:], place.current

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return what readline puts in the place of COMP_WORD: all that follows an open quote or a break such as `=`."""
        line, word = os.environ["COMP_LINE"], os.environ["COMP_WORD"]
        before = line.removesuffix(word) if line.endswith(word) else line
        kept = _read(before)
        # What was typed stays as it is, with its quotes: only the rest of the name is quoted.
        text = _quoted(item.value[len(kept.current) :], kept.quote)
        # readline drops a quote right before a text that begins with the same quote
        return kept.quote + text if kept.quote and before.endswith(kept.quote) and text.startswith(kept.quote) else text


class Zsh(_Words, ZshComplete):
    """zsh: quotes itself."""

    source_template = _ZSH


class Fish(_Words, FishComplete):
    """fish: quotes itself, all but a `~` and the wide spaces of Unicode at the beginning."""

    source_template = _FISH

    def can_insert(self, name: str) -> bool:
        """Return whether a prompt can show the name, and fish leaves it as it is."""
        # A `~` would be the home folder, and fish drops wide spaces in front of a word.
        is_wide_space = name[:1].isspace() and not name.startswith(" ")
        return super().can_insert(name) and not name.startswith("~") and not is_wide_space


_SHELLS: Final[Mapping[str, type[ShellComplete]]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def register() -> None:
    """Let click answer the scripts of the shells."""
    # click knows shells of these names already; this puts ours in their place.
    for name, shell in _SHELLS.items():
        add_completion_class(shell, name)


def completion_script(shell: str, root: click.Command) -> str:
    """Return the script that lets a shell complete the command line of `tfg`, whose command is `root`."""
    return _SHELLS[shell](root, {}, "tfg", "_TFG_COMPLETE").source()


def _read(line: str) -> _LineEnd:
    """Read a line of bash up to the cursor. Nothing of it is expanded: `$x` stays `$x`."""
    words, quote, is_escaped = [""], "", False
    for position, char in enumerate(line):
        if is_escaped:
            words[-1], is_escaped = words[-1] + char, False
        elif char == "\\" and _escapes(line[position + 1 : position + 2], quote):
            is_escaped = True
        elif char == quote or (not quote and char in "'\""):
            quote = "" if quote else char
        elif not quote and char.isspace():
            words.append("")
        else:
            words[-1] += char
    return _LineEnd([word for word in words[:-1] if word], words[-1], quote)


def _escapes(following: str, quote: str) -> bool:
    """Return whether a backslash before a character, or at the end of the line, is an escape."""
    return not quote or (quote == '"' and following in '"$`\\')


def _quoted(text: str, quote: str) -> str:
    """Return text for bash, outside of quotes or after an open quote; nothing in it is expanded."""
    if not quote:
        return re.sub(r"[^\w./:=@%+,-]", r"\\\g<0>", text)
    # No escape keeps `!` from the history in double quotes, so it stands in single quotes between two strings.
    in_double = re.sub(r'["$`\\]', r"\\\g<0>", text).replace("!", "\"'!'\"")
    inside = in_double if quote == '"' else text.replace("'", "'\\''")
    return inside + quote if inside.endswith(quote) else inside  # readline closes no quote after a quote


_MAX_OFFERED: Final = 500


def _nodes(graph: Graph) -> Iterable[str]:
    return (node.name for node in graph)


def _values(graph: Graph) -> Iterator[str]:
    """Yield names of tensors: the outputs, layers and nodes as the author of the model knows them, then nodes of the file."""
    from ..core.explaining.model_view import model_view

    # What the author named comes first: a model of TF2 has thousands of nodes in functions.
    view = model_view(graph)
    outputs = () if view.signature is None else view.signature.fetched
    author = (node.name for node in view.graph)
    yield from dict.fromkeys((*outputs, *view.layers.values(), *author, *_nodes(graph)))


def _inputs(graph: Graph) -> Iterator[str]:
    """Yield names of tensors to feed: the inputs of the usual signature, then nodes."""
    signature = graph.meta.usual_signature if graph.meta is not None else None
    yield from dict.fromkeys((*(() if signature is None else signature.fed), *_nodes(graph)))


def _ops(graph: Graph) -> Iterable[str]:
    return dict.fromkeys(node.op for node in graph)


def _scopes(graph: Graph) -> Iterable[str]:
    return dict.fromkeys(node.name.rpartition("/")[0] for node in graph if "/" in node.name)


def _signatures(graph: Graph) -> Iterable[str]:
    return graph.meta.signatures if graph.meta is not None else ()


def _of_graph(names: Callable[[Graph], Iterable[str]], ctx: click.Context) -> Iterable[str]:
    return names(_graph(ctx))


def _passes(_: click.Context) -> Iterable[str]:
    from ..core.passes.pass_listing import all_passes

    return ["default", *(kind.name for kind in all_passes())]


def _engines(_: click.Context) -> Iterable[str]:
    from ..core.engines.engine_registry import engine_names

    return [NUMPY, AUTO, *engine_names()]


def _stored_tensors(ctx: click.Context) -> Iterable[str]:
    """Return the names of the tensors of the checkpoint on the command line."""
    from ..formats.api.checkpoints import read_checkpoint

    return _first_readable(lambda path: list(read_checkpoint(path)), ctx) or ()


_OF_GRAPH: Final[Mapping[str, Callable[[Graph], Iterable[str]]]] = {
    "--signature": _signatures,
    "--init-op": _nodes,
    "--fetch": _values,
    "--to": _values,
    "--op": _ops,
    "--function": lambda graph: graph.functions,
    "TENSOR": _values,
    "NODE": _nodes,
    "OP": _nodes,
    "[NODE]...": _values,
    "TENSOR=VALUE": _inputs,
    "TENSOR[=VALUE]": _inputs,
    "TENSOR=SIZES": _inputs,
    "SCOPE": _scopes,
}
"""The names of a graph that an option or a metavar takes."""
_BY_NAME: Final[Mapping[str, Callable[[click.Context], Iterable[str]]]] = {
    **{name: functools.partial(_of_graph, names) for name, names in _OF_GRAPH.items()},
    "--values": _stored_tensors,
    "--engine": _engines,
    "--disable": _passes,
    "--after": _passes,
    "LIST": _passes,
}
"""The names that an option or a metavar takes."""
_GRAPHS: Final = ("graph", "graphs", "before", "model", "source")
_FILES: Final = (*_GRAPHS, "after", "prefix")
_Read = TypeVar("_Read")


def offer_names(command: click.Command) -> click.Command:
    """Return the command with parameter types that complete names and files."""
    # This changes the parameters of the command in place: a process that completes does nothing else.
    for param in command.params:
        # The context is only there because click asks for one.
        metavar = param.make_metavar(click.Context(click.Command("tfg")))
        # The name of the option takes precedence over its metavar: NAME is the metavar of many kinds of names.
        names = next((_BY_NAME[name] for name in (*param.opts, metavar) if name in _BY_NAME), None)
        if (isinstance(param, click.Argument) and param.name in _FILES) or metavar in FILE_METAVARS:
            param.type = _File()
        elif names is not None and not isinstance(param.type, click.Choice):
            param.type = _Names(names)
    return command


class _File(click.ParamType[str]):
    """The shell's own completion of file names."""

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class _Names(click.ParamType[Any]):
    """Names of a graph, of a checkpoint or of tfg."""

    name = "name"

    def __init__(self, names: Callable[[click.Context], Iterable[str]]) -> None:
        self._names = names

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        # Lazy, so that a graph of a million nodes is searched only until enough names are found.
        fitting = (name for name in self._names(ctx) if name.startswith(incomplete))
        if not isinstance(param, click.Option):
            # In the place of a node, the command would read a name such as `--output=FILE` as an option.
            fitting = (name for name in fitting if not name.startswith("-"))
        return [CompletionItem(name) for name, _ in zip(fitting, range(_MAX_OFFERED), strict=False)]


def _graph(ctx: click.Context) -> Graph:
    """Return the first readable graph on the command line; an empty graph if none is readable."""
    from ..formats.loading import load_leniently

    return _first_readable(lambda path: load_leniently(path)[0], ctx) or Graph()


def _first_readable(read: Callable[[str], _Read], ctx: click.Context) -> _Read | None:
    """Read the first file on the command line that can be read; pipes and the terminal keep what they hold."""
    for path in _paths(ctx):
        try:
            return read(path)
        except TfgError:
            continue  # a shell's prompt is no place for errors: nothing is offered
    return None


def _paths(ctx: click.Context) -> Iterator[str]:
    """Yield possible paths of the graph; words before an incomplete option are still in the remaining arguments."""
    for words in (ctx.args, *(ctx.params.get(name) or () for name in (*_GRAPHS, "prefix"))):
        yield from (word for word in ([words] if isinstance(words, str) else words) if _is_file(word))


def _is_file(path: str) -> bool:
    return os.path.isfile(path) or os.path.isdir(path) or os.path.isfile(f"{path}.index")
