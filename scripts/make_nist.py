"""Write tests/core/training/nist.json from the files of the NIST StRD nonlinear regression set.

    python scripts/make_nist.py FOLDER_OF_DAT_FILES

The set is in the public domain: https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml
"""

import json
import pathlib
import re
import sys

TARGET = pathlib.Path(__file__).parents[1] / "tests" / "core" / "training" / "nist.json"


def problem(path):
    """Return the name, model, starting values, certified values and data columns of a file."""
    lines = path.read_text().splitlines()
    rows = [re.match(r"\s*b\d+ =\s+(\S+)\s+(\S+)\s+(\S+)", line) for line in lines]
    values = [[float(text) for text in match.groups()] for match in rows if match]
    return {
        "name": path.stem,
        "model": model(lines),
        "starts": [[v[0] for v in values], [v[1] for v in values]],
        "certified": [v[2] for v in values],
        "data": data(lines),
    }


def model(lines):
    """The right-hand side of the model as a Python expression in b1, b2 ... and x (x1, x2), and `log` where y is logged."""
    first = next(i for i, line in enumerate(lines) if re.match(r"\s*(y|log\[y\])\s*=", line))
    text = ""
    for line in lines[first:]:
        text += " " + line.strip()
        if re.search(r"\+\s*e$", line.strip()):
            break
    expression = re.sub(r"\+\s*e$", "", text.split("=", 1)[1]).strip()
    return re.sub(r"\s+", " ", expression.replace("[", "(").replace("]", ")"))


def data(lines):
    """The columns: y, then the predictors."""
    start = max(i for i, line in enumerate(lines) if line.startswith("Data:"))
    rows = [[float(word) for word in line.split()] for line in lines[start + 1 :] if line.strip()]
    return [list(column) for column in zip(*rows)]


if __name__ == "__main__":
    problems = [problem(path) for path in sorted(pathlib.Path(sys.argv[1]).glob("*.dat"))]
    TARGET.write_text(json.dumps(problems, indent=0) + "\n")
