"""`tfg cache`: what it lists and removes."""

from __future__ import annotations

import pytest

import tfg
from tests.cli.running import tfg as run
from tests.core.engines.test_remembered_choices import CHOICE
from tfg.core.engines.remembered_choices import written_choice
from tfg.core.support import cache_folder


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A folder with a choice, a damaged choice and a program of XLA."""
    monkeypatch.setenv("TFG_CACHE", str(tmp_path))
    folder = cache_folder.own_folder(cache_folder.CHOICES)
    for name, content in [("one", written_choice(CHOICE, "one")), ("damaged", b"{")]:
        cache_folder.write_entry(folder, name, content)
    cache_folder.write_entry(cache_folder.own_folder(cache_folder.PROGRAMS), "jit_f-cache", bytes(3 << 19))
    (tmp_path / "of the user").write_text("stays")
    return tmp_path


@pytest.fixture(autouse=True)
def large_entries(monkeypatch):
    """Entries as large as programs."""
    monkeypatch.setattr(cache_folder, "MOST_BYTES", 1 << 21)


def test_choices_and_programs_are_listed(cache):
    lines = run("cache").out.splitlines()
    assert lines[1].split() == ["fetches", "shapes", "of", "feeds", "kept", "numpy", "ms", "a", "ms", "untried"]
    assert lines[3].split() == ["y:0", "[2]", "a", "2000.000", "1000.000", "b"]
    assert lines[-1] == f"1 choice, 1 damaged choice, 1 file of XLA of 1.5 MiB in {cache}"


def test_python_lists_the_same(cache):
    report = tfg.describe_cache()
    assert (report.folder, report.damaged, report.programs, report.program_bytes) == (str(cache), 1, 1, 3 << 19)
    (choice,) = report.choices
    assert (choice.kept, choice.seconds, choice.untried) == ("a", {"numpy": 2.0, "a": 1.0}, ("b",))
    assert repr(report) == "<CacheReport: 1 choice, 1 file of XLA>"


def test_clearing_removes_them_and_nothing_else(cache):
    assert run("cache", "--clear").out.startswith("choices")
    assert run("cache", "--format", "json").json["choices"] == []
    assert {path.name for path in cache.rglob("*") if path.is_file()} == {"of the user"}


@pytest.mark.parametrize("words, environment", [((), {"TFG_CACHE": "none"}), (("--untrusted",), {})])
def test_where_nothing_is_cached_nothing_is_shown(words, environment, cache, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert run(*words, "cache", "--clear").out == "nothing is cached\n"
    assert len(list((cache / "choices").iterdir())) == 2
