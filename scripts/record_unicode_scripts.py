"""Write core/codecs/unicode_scripts.txt, the script of every code point, from TensorFlow's UnicodeScript.

/path/to/tensorflow-venv/bin/python scripts/record_unicode_scripts.py
"""

import pathlib

import numpy as np
import tensorflow as tf

TARGET = pathlib.Path(__file__).parents[1] / "core" / "codecs" / "unicode_scripts.txt"


def script_runs() -> str:
    """Return a line per run of code points of the same script: the first code point and the number of the script."""
    scripts = tf.raw_ops.UnicodeScript(input=np.arange(0x110000, dtype=np.int32)).numpy()
    starts = np.flatnonzero(np.r_[True, scripts[1:] != scripts[:-1]])
    return "".join(f"{start:x} {scripts[start]}\n" for start in starts)


if __name__ == "__main__":
    TARGET.write_text(script_runs())
