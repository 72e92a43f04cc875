"""Where passes have their places."""

from __future__ import annotations

from tfg.core.passes.pass_listing import all_passes


def test_every_pass_runs_behind_what_it_follows_and_requires():
    names = [kind.name for kind in all_passes()]
    assert len(set(names)) == len(names)
    for place, kind in enumerate(all_passes()):
        assert {kind.follows, *kind.requires} - {""} <= set(names[:place]), kind.name


def test_final_passes_come_last():
    finals = [kind.is_final for kind in all_passes()]
    assert finals == sorted(finals)
