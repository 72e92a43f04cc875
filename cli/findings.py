"""Findings for machines that show them beside the files: workflow commands of GitHub, and SARIF."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from .. import __version__
from ..core.support.escaping import masked, printable, printable_json, printable_line
from ..core.support.places import is_address
from .render import Table, cell

GITHUB: Final = "github"
SARIF: Final = "sarif"
FORMATS: Final = (GITHUB, SARIF)
# protobuf prints the name as the first field of a node. In a file with another layout findings have no lines.
_NODE: Final = re.compile(rb'^\s*node\s*\{\s*name:\s*"([^"\\]*)"', re.MULTILINE)
_MAX_TEXT: Final = 2**26
"""Largest size of a file with line numbers in findings, in bytes."""


class Finding(NamedTuple):
    """A finding in a file: the level is `error` or `warning`, the rule a few words for all findings of a kind."""

    level: str
    rule: str
    message: str
    path: str
    node: str | None = None


def print_findings(findings: Sequence[Finding], format_: str) -> None:
    """Print findings as workflow commands, a line each, or as a SARIF log."""
    if format_ == GITHUB:
        sys.stdout.writelines(f"{line}\n" for line in github_lines(findings))
    else:
        sys.stdout.write(printable_json(json.dumps(sarif(findings), indent=2)) + "\n")


def table_findings(tables: Iterable[Table], path: str, rule: str) -> list[Finding]:
    """Return a finding for each row of tables, with all nonempty cells."""
    rows = (row for table in tables for row in table.rows)
    return [Finding("error", rule, " ".join(filter(None, map(cell, row))), path) for row in rows]


def github_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the workflow command of each finding, which GitHub shows as an annotation of the file."""
    lines = _Lines()
    for finding in findings:
        line = lines.of(finding)
        properties = {
            "file": "" if finding.path == "-" else _below(finding.path) or finding.path,
            "line": line,
            "title": f"tfg: {finding.rule}",
        }
        words = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value)
        # A name of a node with a line feed and `::` would be a workflow command of the graph's author.
        yield f"::{finding.level} {words}::{_data(printable_line(_text(finding)))}"


def sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return a log of SARIF 2.1.0, the format of GitHub's code scanning and of other tools."""
    lines = _Lines()
    rules = list(dict.fromkeys(finding.rule for finding in findings))
    driver = {
        "name": "tfg",
        "version": __version__,
        "rules": [{"id": _slug(rule), "shortDescription": {"text": printable(rule)}} for rule in rules],
    }
    results = [_result(finding, rules.index(finding.rule), lines.of(finding)) for finding in findings]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(finding: Finding, index: int, line: int | None) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if finding.path != "-":
        # GitHub's code scanning refuses a result without a region, so that a finding without a line is shown at the first.
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(finding.path)}, "region": {"startLine": line or 1}}
    if finding.node:
        location["logicalLocations"] = [{"fullyQualifiedName": printable_line(finding.node), "kind": "element"}]
    return {
        "ruleId": _slug(finding.rule),
        "ruleIndex": index,
        "level": finding.level,
        "message": {"text": printable_line(_text(finding))},
        "locations": [location],
    }


def _text(finding: Finding) -> str:
    return f"{finding.node}: {finding.message}" if finding.node else finding.message


def _slug(rule: str) -> str:
    return "-".join(re.findall("[a-z0-9]+", rule.lower()))


def _below(path: str) -> str | None:
    """Return the path of a file below the working folder from there, with slashes; None for another file."""
    full = pathlib.Path(os.path.abspath(path))
    return full.relative_to(pathlib.Path.cwd()).as_posix() if full.is_relative_to(pathlib.Path.cwd()) else None


def _uri(path: str) -> str:
    """Return a reference to a file, relative to the working folder where the file lies below."""
    if is_address(path):
        return masked(path)
    below = _below(path)
    return pathlib.Path(os.path.abspath(path)).as_uri() if below is None else urllib.parse.quote(below)


def _data(text: str) -> str:
    """Return text as workflow commands write messages."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return text as workflow commands write properties."""
    return _data(printable_line(text)).replace(":", "%3A").replace(",", "%2C")


class _Lines:
    """The lines of text files where nodes begin, by path and name."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[str, int]] = {}

    def of(self, finding: Finding) -> int | None:
        """Return the line of a finding's node, counted from 1; None if the file is no text or lacks the node."""
        if finding.node is None or not os.path.isfile(finding.path):
            return None
        if finding.path not in self._lines:
            self._lines[finding.path] = _node_lines(finding.path)
        return self._lines[finding.path].get(finding.node)


def _node_lines(path: str) -> dict[str, int]:
    if os.path.getsize(path) > _MAX_TEXT:
        return {}
    data = pathlib.Path(path).read_bytes()
    # Only a binary file has a NUL.
    if b"\0" in data:
        return {}
    lines: dict[str, int] = {}
    line, end = 1, 0
    for match in _NODE.finditer(data):
        # Counted on from the last node: from the beginning each time would be quadratic.
        line += data.count(b"\n", end, match.start(1))
        end = match.start(1)
        lines.setdefault(match[1].decode("utf-8", "replace"), line)
    return lines
