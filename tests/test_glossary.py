"""The code uses the terms of docs/glossary.md, docstrings name things, and messages are direct sentences."""

from __future__ import annotations

import ast
import functools
import pathlib
import re
from collections.abc import Iterator

import pytest

import tfg
from tests.sources import nodes_of

ROOT = pathlib.Path(tfg.__file__).parent
FILES = (path for part in ("cli", "core", "formats") for path in sorted((ROOT / part).rglob("*.py")))
SOURCES = [path for path in FILES if "_pb2" not in path.name]
TERM = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
RETIRED = {
    "team": "worker pool",
    "teamwork": "worker pool",
    "rehearsal": "dry run",
    "liveness": "deadness",
    "journal": "log",
    "tidying": "clean-up",
    "unable": "unsupported",
    "denial": "unsupported",
    "denials": "unsupported",
    "rehearsed": "recorded",
    "foretelling": "precomputation",
    "foretold": "precomputed",
    "engagement": "engine runtime",
    "obstacles": "blockers",
}
"""Words that the code no longer uses, and the term that replaced each word."""


@functools.cache
def identifiers(path: pathlib.Path) -> set[str]:
    """Return all identifiers of a file."""
    names: set[str] = set()
    for node in nodes_of(path):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
    return names


def words_of(path: pathlib.Path) -> set[str]:
    """Return the words of all identifiers of a file, in lower case."""
    return {word.lower() for name in identifiers(path) for word in re.findall(r"[A-Z]?[a-z]+", name)}


@pytest.mark.slow
def test_retired_words_name_nothing():
    for path in SOURCES:
        words = words_of(path) | set(path.stem.split("_"))
        assert not {word: term for word, term in RETIRED.items() if word in words}, path


def test_the_glossary_defines_each_term_once_and_names_its_source():
    rows = TERM.findall((ROOT / "docs/glossary.md").read_text())[2:]
    terms = [term for term, _, _ in rows]
    assert len(terms) >= 60 and len(set(terms)) == len(terms)
    assert terms == sorted(terms, key=str.lower)
    assert all(definition.endswith(".") and source for _, definition, source in rows)


VAGUE = re.compile(r"\b(what|who|whom|whose|which|those|such|one|ones|it|its|that of|so many|as many|these)\b", re.IGNORECASE)
"""Words that often stand where a noun of the field should."""
MOST_VAGUE = 0.02
MOST_WHAT = 0.03


def docstrings(path: pathlib.Path) -> list[str]:
    """Return the docstrings of a file, with the docstrings of constants."""
    texts = []
    for node in nodes_of(path):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            texts += [
                statement.value.value
                for statement in node.body
                if isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
            ]
    return texts


@pytest.mark.slow
def test_docstrings_name_things():
    """In docstrings of click, rich, jax and numpy, 0.6 to 1.9 % of the words are vague, and up to 3.2 % say `what`."""
    texts = [text for path in SOURCES for text in docstrings(path)]
    words = sum(len(text.split()) for text in texts)
    assert sum(len(VAGUE.findall(text)) for text in texts) < MOST_VAGUE * words
    assert sum("what" in text.lower().split() for text in texts) < MOST_WHAT * len(texts)


TRANSLATED = {
    r"\b(is|are) no (?!longer|more)[a-z]": "'x' is not a device",
    r"\bthere (is|are) no\b": "unknown stage 'x'; file 'x' does not exist; the graph has no node 'x'",
    r"\b(takes?|knows?|gets?|wants?) no\b": "XLA does not support complex64",
    r"\b(has|have) none\b": "the model has no signatures",
    r"\bof (its|their) own\b": "a separate file",
    r"\bin the place of\b": "replaces, instead of",
    r"\bread by others\b": "other nodes also read Conv2D",
    r"\bnobody\b|\bwho\b": "no node",
    r"\bis (told|given)\b": "has",
    r"\bdoes nothing beside\b|\bgoes? with\b": "--text has no effect with --on, --seed needs --on",
    r"\bwhat (is|it|the|a|was|has|they|becomes|goes)\b": "the noun",
    r"\bsays? (how|what|which|who)\b": "describes, lists",
    r"\bHow to\b|\bHow (many|often)\b": "Number of",
    r"\bto hand (on|out)\b|\bhands? (on|out)\b": "passes on",
    r"\bis it '": "did you mean 'x'?",
}
"""Patterns of sentences that read like a translation, each with a better sentence."""


def messages(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string that a program may show: strings of several words, helps of commands."""
    prose = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose and " " in node.value:
            yield node.lineno, node.value
        if isinstance(node, ast.FunctionDef) and node.name == "command" and path.parent.name == "commands":
            yield node.lineno, ast.get_docstring(node) or ""


@pytest.mark.slow
def test_messages_use_direct_sentences():
    faults = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}; write it like: {better}"
        for path in SOURCES
        for line, text in messages(path)
        for pattern, better in TRANSLATED.items()
        if re.search(pattern, text)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "text",
    [
        "'x' is no device",
        "there is no stage 'x'",
        "ONNX takes no strings",
        "hint: it has none",
        "what it does",
        "How to print",
    ],
)
def test_translated_sentences_are_seen(text):
    assert any(re.search(pattern, text) for pattern in TRANSLATED)


@pytest.mark.parametrize("text", ["'x' is not a device", "the queue is no longer open", "the graph has no node 'x'"])
def test_direct_sentences_pass(text):
    assert not any(re.search(pattern, text) for pattern in TRANSLATED)
