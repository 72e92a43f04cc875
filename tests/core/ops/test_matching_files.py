"""File patterns, against the matches of TensorFlow 2.21's `tf.io.matching_files` in the same folder."""

import os

import pytest

from tfg.core.runtime.state.file_access import OPEN, FileAccess, FileGate, escape_pattern

NAMES = [".dot", "a", "b", "c[x]", "d\\e", "~t", "sub/f", "sub/.hid/z"]
TOP = [".dot", "a", "b", "c[x]", "d\\e", "sub", "~t"]
FOUND = {
    "*": TOP, ".*": [".dot"], "?": ["a", "b"], "[!a]": ["b"], "[^a]": ["b"], "[ab]": ["a", "b"], "c[[]x]": ["c[x]"],
    "d\\\\e": ["d\\e"], "\\a": ["a"], "*/f": ["sub/f"], "**/f": ["sub/f"], "**": TOP, "*/../a": [], "s*/../*": [], "./*": TOP,
    "s*/": ["sub"], "nope/*": [], "{a,b}": [], "c\\[x]": ["c[x]"], "[": [], "*/.": [], "~*": ["~t"], "[a-b]": ["a", "b"],
    "[]a]": ["a"], "[b-a]": [],
}  # fmt: skip
AS_WRITTEN = {
    "sub/*": ["sub/.hid", "sub/f"], "sub/../a": ["sub/../a"], "sub/": ["sub/"], "nope": [], "sub/.": ["sub/."], "": [],
    "sub/.h*/*": ["sub/.hid/z"], "c[x]": [],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_relative_patterns(folder):
    for pattern, names in FOUND.items():
        assert OPEN.matching(pattern) == [f"./{name}" for name in names], pattern
    for pattern, names in AS_WRITTEN.items():
        assert OPEN.matching(pattern) == names, pattern


def test_absolute_patterns(folder):
    confined = FileGate(FileAccess.only([folder]))
    for gate in (OPEN, confined):
        for pattern, names in FOUND.items():
            if not pattern.startswith("./"):
                assert gate.matching(f"{folder}/{pattern}") == [f"{folder}/{name}" for name in names], pattern
    assert OPEN.matching(f"{folder}//*") == []
    assert OPEN.matching("/*") == [f"/{name}" for name in sorted(os.listdir("/"))]


def test_escaped_patterns(folder):
    for name in NAMES:
        assert OPEN.matching(escape_pattern(str(folder / name))) == [str(folder / name)]
