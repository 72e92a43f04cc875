"""How Sphinx builds the site: `python scripts/build_docs.py` runs it."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "extensions"))

import tfg

project = "tfg"
author = copyright = "the authors of tfg"
release = tfg.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
extensions += ["builtin_types", "command_pages", "pass_rules", "plain_docstrings", "root_pages"]
highlight_language = "text"
exclude_patterns = ["extensions"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # a type without an entry is text in a signature, no broken link
smartquotes = False  # what is between quotes is mostly for a terminal

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
autodoc_default_options = {"members": True, "undoc-members": False}

html_theme = "furo"
html_title = "tfg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
