"""Replay recorded sessions and hold the number that passes against the floor kept in replay_floor.json.

usage: replay.py SHARED [--raise-floor]        SHARED holds the folders below and traces/replay.py
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile

FLOOR = pathlib.Path(__file__).with_name("replay_floor.json")
JOBS = "2"
FOLDERS = ("graphs", "traces", "traces_real", "traces_data")


def replayed(shared: pathlib.Path, folder: str) -> tuple[int, int]:
    """(passed, failed) of one folder, after the replay's own output."""
    script = shared / "traces" / "replay.py"
    command = [sys.executable, str(script), str(shared / folder), "-j", JOBS, "--show", "10"]
    # Some sessions write files beside themselves.
    with tempfile.TemporaryDirectory() as scratch:
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=scratch).stdout
    print(output, end="", flush=True)
    counts = re.findall(r"(\d+) passed, (\d+) failed", output)
    if not counts:
        sys.exit(f"the replay of {folder} did not come to its end")
    return int(counts[-1][0]), int(counts[-1][1])


def main() -> None:
    shared = pathlib.Path(sys.argv[1]).resolve()
    floor = json.loads(FLOOR.read_text())
    passed = {folder: replayed(shared, folder)[0] for folder in FOLDERS if (shared / folder).is_dir()}
    for folder, count in passed.items():
        print(f"{folder}: {count} pass, the floor is {floor[folder]}")
    if "--raise-floor" in sys.argv:
        raised = floor | {folder: max(count, floor[folder]) for folder, count in passed.items()}
        FLOOR.write_text(json.dumps(raised, indent=2) + "\n")
    elif any(count < floor[folder] for folder, count in passed.items()):
        sys.exit("fewer recorded sessions pass than before")


main()
