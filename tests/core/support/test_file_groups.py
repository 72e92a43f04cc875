"""Groups of files: no file gets the final name before all files are on the disk."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys

import pytest

from tfg.core.support import file_groups
from tfg.core.support.errors import ResourceExhaustedError, TfgError
from tfg.core.support.file_groups import file_group, sync_files


def staged(group, path, data=b"data"):
    file, entry = group.create(str(path))
    with file:
        file.write(data)
    return entry


def test_files_appear_when_they_are_published(tmp_path):
    with file_group(str(tmp_path)) as group:
        files = [staged(group, tmp_path / "a"), staged(group, tmp_path / "deep" / "b")]
        staged(group, tmp_path / "never")
        assert not (tmp_path / "a").exists() and not (tmp_path / "deep" / "b").exists()
        group.publish(files)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "deep" / "b").read_bytes() == b"data"
        group.finish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "deep"]


@pytest.mark.parametrize("has_syncfs", [True, False])
def test_no_file_has_its_name_if_the_sync_fails(has_syncfs, tmp_path, monkeypatch):
    def fail(descriptor):
        ctypes.set_errno(28)
        if has_syncfs:
            return -1
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file_groups, "find_syncfs", lambda: fail if has_syncfs else None)
    monkeypatch.setattr(os, "fsync", fail)
    with file_group(str(tmp_path)) as group:
        files = [staged(group, tmp_path / "a")]
        with pytest.raises(ResourceExhaustedError):
            group.publish(files)
    assert not list(tmp_path.iterdir())


def test_each_file_is_synced_where_one_call_cannot(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(file_groups, "find_syncfs", lambda: None)
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(b"data")
    sync_files(list(map(str, paths)))
    assert synced == [path.stat().st_ino for path in paths]


@pytest.mark.skipif(os.name != "posix", reason="other systems: permissions are POSIX's")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    with file_group(str(tmp_path)) as group:
        files = [staged(group, tmp_path / "a")]
        assert stat.S_IMODE(os.stat(files[0].staged).st_mode) == 0o640
        group.publish(files)
    assert (tmp_path / "a").read_bytes() == b"data" and stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="other systems: a folder in use has no lock")
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    script = (
        "import os, sys; from tfg.core.support.file_groups import file_group\n"
        "with file_group(sys.argv[1]) as group: group.create(sys.argv[1] + '/a'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)])
    assert len(list(tmp_path.iterdir())) == 1
    with file_group(str(tmp_path)):
        assert len(list(tmp_path.iterdir())) == 1
        with file_group(str(tmp_path)):
            assert len(list(tmp_path.iterdir())) == 2, "of two writers at once neither removes the other's"
    assert not list(tmp_path.iterdir())


def test_a_folder_in_the_place_of_a_file_is_an_error(tmp_path):
    (tmp_path / "a").mkdir()
    with file_group(str(tmp_path)) as group, pytest.raises(TfgError, match=r"'.*a'"):
        group.publish([staged(group, tmp_path / "a")])
