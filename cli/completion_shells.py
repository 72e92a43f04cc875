"""The shells at whose Tab key `tfg` answers: their scripts, the words they send, and the quoting of the answer.

A name of a graph is text of a stranger. zsh and fish quote the words that a completion adds; bash inserts them into the
command line as they are, so for bash the quoting happens here. A name that a prompt cannot show as a line is not offered.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any, Final

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete, add_completion_class

from ..core.support import dataclasses
from ..core.support.escaping import printable_line

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
        option = _option_before(args, incomplete)
        whole = (CompletionItem(option + item.value, help=item.help) for item in items if self.can_insert(item.value))
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
        is_wide_space = name[:1].isspace() and not name.startswith(" ")
        return super().can_insert(name) and not name.startswith("~") and not is_wide_space


_SHELLS: Final[Mapping[str, type[ShellComplete]]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def register() -> None:
    """Let click answer the scripts of the shells."""
    for name, shell in _SHELLS.items():
        add_completion_class(shell, name)


def completion_script(shell: str, root: click.Command) -> str:
    """Return the script that lets a shell complete the command line of `tfg`, whose command is `root`."""
    return _SHELLS[shell](root, {}, "tfg", "_TFG_COMPLETE").source()


def _option_before(args: list[str], incomplete: str) -> str:
    """Return the `--option=` of a word `--option=VALUE`, which is no part of the names that click returns."""
    option, equals, _ = incomplete.partition("=")
    return option + equals if equals and option.startswith("--") and "--" not in args else ""


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
